"""Calls downloader middlewares without a coroutine around each of their answers."""

from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any

from scrapy import Request
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import HtmlResponse, Response
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from weft.engine.scrapy.compat import InvalidOutput

#: Characters of a page in which Scrapy looks for a meta refresh.
SEARCHED = 4096


class LeanDownloaderMiddlewares(DownloaderMiddlewareManager):
    """Most middlewares answer at once, with None or with what they were given."""

    @cached_property
    def _requests(self) -> list[Callable[..., Any]]:
        return [self._whole(method) for method in self.methods["process_request"]]

    @cached_property
    def _responses(self) -> list[tuple[Callable[..., Any], bool]]:
        """With each, whether it is the one that searches every page for a tag that few have."""
        return [
            (self._whole(method), type(_owner(method)) is MetaRefreshMiddleware)
            for method in self.methods["process_response"]
        ]

    def _whole(self, method: Callable[..., Any] | None) -> Callable[..., Any]:
        """Bind the spider, if it is an old-style method that requires it."""
        assert method is not None
        wants_spider = method in self._mw_methods_requiring_spider
        return partial(method, spider=self._spider) if wants_spider else method

    async def _process_request(
        self, request: Request, download_func: Callable[[Request], Coroutine[Any, Any, Response]]
    ) -> Response | Request:
        for method in self._requests:
            answer = method(request=request)
            if answer is not None and (answer := await _now(answer, method)) is not None:
                return _checked(answer, method, "None, Response or Request", type(answer).__name__)
        return await download_func(request)

    async def _process_response(
        self, response: Response | Request, request: Request
    ) -> Response | Request:
        if isinstance(response, Request):
            return response
        if response is None:
            raise TypeError("Received None in process_response")
        for method, is_refresh in self._responses:
            if is_refresh and not may_refresh(response):
                continue
            try:
                answer = method(request=request, response=response)
            except ValueError:
                if is_refresh:
                    continue  # its target is not a URL: ignore it
                raise
            if answer is response:
                continue
            answer = await _now(answer, method)
            response = _checked(answer, method, "Response or Request", str(type(answer)))
            if isinstance(response, Request):
                return response
        return response


def may_refresh(response: Response) -> bool:
    """Whether a page can have a meta refresh where Scrapy looks for it."""
    is_page = isinstance(response, HtmlResponse)
    return is_page and "refresh" in response.text[:SEARCHED].lower()


def _owner(method: Any) -> Any:
    return getattr(method, "__self__", None)


async def _now(answer: Any, method: Callable[..., Any]) -> Any:
    """The answer of a middleware, awaited if necessary."""
    if isinstance(answer, Deferred) or isawaitable(answer):
        return await ensure_awaitable(answer, _warn=global_object_name(_own(method)))
    return answer


def _checked(answer: Any, method: Callable[..., Any], wanted: str, got: str) -> Response | Request:
    if isinstance(answer, (Response, Request)):
        return answer
    raise InvalidOutput(f"Middleware {_own(method).__qualname__} must return {wanted}, got {got}")


def _own(method: Any) -> Any:
    """The original method of the middleware."""
    return method.func if isinstance(method, partial) else method

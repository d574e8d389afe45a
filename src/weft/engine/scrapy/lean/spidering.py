"""Spider middlewares as plain generators, where Scrapy uses asynchronous ones for everything.

A callback that is a plain generator goes through plain generators if all middlewares offer them;
Scrapy's own do. What is asynchronous, or handles exceptions of a callback, is left to Scrapy.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from functools import cached_property
from inspect import isasyncgenfunction
from typing import Any

from scrapy import Request
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError, HttpErrorMiddleware

from weft.engine.scrapy.compat import process_pending_io

#: A middleware's `process_spider_output`.
Process = Callable[..., Iterable[Any]]


class LeanSpiderMiddlewares(SpiderMiddlewareManager):
    @cached_property
    def _plain(self) -> list[Process] | None:
        """How the middlewares process what a callback yields, the one next to the spider first;
        None if not all of them can do so without being asynchronous."""
        plain = []
        for middleware in reversed(self.middlewares):
            process = getattr(middleware, "process_spider_output", None)
            if process is None:
                continue
            if isasyncgenfunction(process) or process in self._mw_methods_requiring_spider:
                return None
            plain.append(process)
        return None if self._handles_exceptions() else plain

    def _handles_exceptions(self) -> bool:
        """Whether a middleware may yield something in place of a callback's exception."""
        return any(
            hasattr(middleware, "process_spider_exception")
            for middleware in self.middlewares
            # It yields nothing in its place, see `_ignoring`.
            if type(middleware) is not HttpErrorMiddleware
        )

    async def scrape_response_async(
        self, scrape_func: Callable[..., Any], response: Response, request: Request
    ) -> Any:
        plain = self._plain
        if plain is None:
            return await super().scrape_response_async(scrape_func, response, request)
        try:
            output = await self._process_spider_input(scrape_func, response, request)
        except Exception as problem:
            await process_pending_io()
            return self._process_spider_exception(response, problem)
        if isinstance(output, AsyncIterator):
            return await self._process_callback_output(response, output)
        for process in plain:
            output = process(response=response, result=output)
        return self._ignoring(output, response) if self._ignored_by else output

    @cached_property
    def _ignored_by(self) -> list[HttpErrorMiddleware]:
        """The middlewares that handle responses whose status is not allowed."""
        return [each for each in self.middlewares if type(each) is HttpErrorMiddleware]

    def _ignoring(self, output: Iterable[Any], response: Response) -> Iterable[Any]:
        """What was yielded, up to an HttpError, which a callback may raise or pass on."""
        try:
            yield from output
        except HttpError as problem:
            for middleware in self._ignored_by:
                middleware.process_spider_exception(response, problem)

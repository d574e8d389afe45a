from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure


class ErrorsSpider(Spider):
    name = "errors"

    def __init__(self, site: str, closed_port: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.refused = [f"http://127.0.0.1:{closed_port}/{n}" for n in range(3)]

    async def start(self) -> AsyncIterator[Any]:
        paths = ("missing/1", "missing/2", "status/500", "status/403", "redirect-loop", "")
        for url in (*(self.site + path for path in paths), *self.refused):
            yield Request(url, errback=self.failed, cb_kwargs={"asked": url})
        yield Request(
            f"{self.site}status/404", self.parse_missing, meta={"handle_httpstatus_all": 1}
        )

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "asked": kwargs["asked"]}

    def parse_missing(self, response: Response) -> Any:
        yield {"url": response.url, "handled": response.status}

    def failed(self, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]
        found = {"failed": request.cb_kwargs["asked"], "error": type(failure.value).__name__}
        if isinstance(failure.value, HttpError):
            found["status"] = failure.value.response.status
        yield found
        if "/missing/1" in request.url:
            yield Request(f"{self.site}echo?after=errback", self.parse_echo)

    def parse_echo(self, response: Response) -> Any:
        yield {"path": response.json()["path"]}  # type: ignore[attr-defined]

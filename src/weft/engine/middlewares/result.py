"""Next to the engine: what the downloader side hands over in the end.

Where neither a response nor an error comes by, a middleware has replaced the request by another.
"""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from weft.engine.scheduler import scheduler_of


class ResultMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        if fate := scheduler_of(self._crawler).fate_of(request):
            fate.is_answered = True
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if fate := scheduler_of(self._crawler).fate_of(request):
            fate.error = exception

"""scrapy-deltafetch as projects have to adapt it to Scrapy 2.19, and a spider for it."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Spider
from scrapy.http import Response, TextResponse
from scrapy_deltafetch import DeltaFetch
from walking import Walker


class AsyncDeltaFetch(DeltaFetch):
    """Scrapy 2.19 refuses middlewares whose output is not asynchronous."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider
    ) -> AsyncIterator[Any]:
        async for thing in result:
            for passed in super().process_spider_output(response, [thing], spider):
                yield passed


class Delta(Walker):
    """Items come from the pages that the first one links to."""

    name = "delta"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="li a", callback=self.parse_page)

    def parse_page(self, response: Response) -> Any:
        yield {"url": response.url}

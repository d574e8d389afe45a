"""A spider that follows every link, and notes what its requests and the answers were like."""

from typing import Any

from scrapy import Spider
from scrapy.http import Response, TextResponse


class Browser(Spider):
    name = "browser"

    def __init__(self, start_urls: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = start_urls

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        assert response.request is not None
        sent = response.request.headers
        yield {
            "url": response.url,
            "status": response.status,
            "text": response.css("p::text").get(),
            "flags": response.flags,
            "depth": response.meta["depth"],
            "came_from": response.meta.get("redirect_urls"),
            "reasons": [str(reason) for reason in response.meta.get("redirect_reasons", ())],
            "sent": {
                name: str(sent.get(name))
                for name in ("Accept-Encoding", "Authorization", "Proxy-Authorization", "Referer")
            },
        }
        yield from response.follow_all(css="a")

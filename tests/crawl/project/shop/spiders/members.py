from typing import Any

from scrapy import FormRequest, Spider
from scrapy.http import Response, TextResponse


class MembersSpider(Spider):
    name = "members"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{site}login"]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        form = {"user": "weft", "password": "secret"}
        yield FormRequest.from_response(response, formdata=form, callback=self.parse_list)

    def parse_list(self, response: Response) -> Any:
        yield {"url": response.url, "method": response.request.method if response.request else ""}
        assert isinstance(response, TextResponse)
        yield from response.follow_all(css="a", callback=self.parse_member)

    def parse_member(self, response: Response) -> Any:
        yield {"url": response.url, "title": response.css("h1::text").get()}

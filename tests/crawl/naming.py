"""Host names of this machine, without a name server: all that end in `.localhost` are 127.0.0.1, as
on systems that do as RFC 6761 says; but for those that begin with `gone.`, which do not exist.

For a process that imports this module; and a spider for it.
"""

import socket
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from weft import FollowAll

_plain_getaddrinfo = socket.getaddrinfo


def _getaddrinfo(host: Any, *rest: Any, **named: Any) -> Any:
    if isinstance(host, str) and host.endswith(".localhost"):
        if host.startswith("gone."):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        host = "127.0.0.1"
    return _plain_getaddrinfo(host, *rest, **named)


socket.getaddrinfo = _getaddrinfo


class Caller(Spider):
    """Fetches the given URLs, separated by spaces; with `follow`, also what the pages link to."""

    name = "caller"

    def __init__(self, urls: str, follow: str = "", allowed: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = urls.split()
        self.follow = bool(follow)
        self.allowed_domains = allowed.split()

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}
        assert isinstance(response, TextResponse)
        if self.follow:
            yield FollowAll(response.css("a::attr(href)").getall())

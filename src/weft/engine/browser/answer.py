"""The answer of a page in the browser, and the response for Scrapy that is made of it."""

from collections.abc import Mapping

import msgspec
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers, HtmlResponse, Response

from weft.engine.http.response import class_of

#: The flag of responses that a browser has fetched.
FLAG = "browser"
#: The flag of redirects that are the work of a script.
SCRIPT_FLAG = "script_redirect"

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_WITHOUT_BODY = frozenset((204, 205, 304))
_PAGES = frozenset(("", "text/html", "application/xhtml+xml"))
# These say how the body came here, which is over.
_OF_TRANSPORT = frozenset(
    ("content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive")
)


class AnswerHead(msgspec.Struct, frozen=True):
    status: int
    #: In lower case; without cookies.
    headers: Mapping[str, str]

    @property
    def length(self) -> int:
        """As announced; 0: unknown."""
        told = self.headers.get("content-length", "")
        return int(told) if told.isdecimal() and len(told) < 16 else 0

    @property
    def has_no_body(self) -> bool:
        is_redirect = self.status in _REDIRECTS and "location" in self.headers
        return is_redirect or self.status in _WITHOUT_BODY

    @property
    def is_page(self) -> bool:
        """Something to show, and not a file."""
        content_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_file = self.headers.get("content-disposition", "").lower().startswith("attachment")
        return content_type in _PAGES and not is_file


class BrowserAnswer(msgspec.Struct, frozen=True):
    head: AnswerHead
    #: Values of Set-Cookie.
    cookies: tuple[str, ...] = ()
    body: bytes = b""
    #: The body is what scripts have made of the page.
    is_rendered: bool = False
    flags: tuple[str, ...] = (FLAG,)

    def response(self, url: str) -> Response:
        headers = Headers()
        for name, value in self.head.headers.items():
            if name not in _OF_TRANSPORT:
                headers[name] = value.split("\n")
        for cookie in self.cookies:
            headers.appendlist("Set-Cookie", cookie)
        kind = class_of(headers, url, self.body)
        if self.is_rendered:
            headers["Content-Type"] = "text/html; charset=utf-8"
            kind = HtmlResponse
        return kind(
            url, status=self.head.status, headers=headers, body=self.body, flags=[*self.flags]
        )


def script_redirect(url: str, cookies: tuple[str, ...]) -> BrowserAnswer:
    """A script has sent the browser elsewhere."""
    head = AnswerHead(302, {"location": url})
    return BrowserAnswer(head, cookies, flags=(FLAG, SCRIPT_FLAG))


def too_large(url: str, size_bytes: int, max_bytes: int) -> DownloadCancelledError:
    return DownloadCancelledError(
        f"{url} has {size_bytes:,} bytes in the browser, more than DOWNLOAD_MAXSIZE ({max_bytes:,})"
    )

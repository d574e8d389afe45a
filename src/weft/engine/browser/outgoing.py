"""What a Scrapy request asks for, in the words of the browser."""

import base64
import binascii
import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import NotSupported, UnsupportedURLSchemeError

# The browser has its own of these. A page is not asked whether it has changed: its scripts may show
# something else although it has not.
_OF_BROWSER = frozenset(
    (
        *("accept", "accept-encoding", "connection", "content-length", "cookie", "host"),
        *("if-modified-since", "if-none-match", "proxy-authorization", "te", "transfer-encoding"),
        *("upgrade", "user-agent"),
    )
)
_COOKIE = re.compile(r"([^\s;=,\"\\]{1,256})=([^;\x00-\x1f\x7f]{0,4096})")
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8}){0,2}(?![\w-])")


class OutgoingPage(NamedTuple):
    url: str
    #: Sent with the page itself, over those of the browser.
    headers: dict[str, str]
    #: How its context is made.
    context: dict[str, Any]
    cookies: list[dict[str, str]]


def outgoing_page(request: Request, *, verifies: bool) -> OutgoingPage:
    """`verifies`: whether certificates must be valid. Raises NotSupported or
    UnsupportedURLSchemeError for what no browser opens."""
    if not request.url.startswith(("http://", "https://")):
        raise UnsupportedURLSchemeError(f"{request} is no web page, which a browser could open")
    if request.method != "GET" or request.body:
        raise NotSupported(f"{request}: a browser only gets pages (GET, without a body)")
    url = request.url.partition("#")[0]
    return OutgoingPage(
        url=url,
        headers={
            name.decode("latin-1"): b", ".join(values).decode("latin-1")
            for name, values in request.headers.items()
            if name.decode("latin-1").lower() not in _OF_BROWSER
        },
        context=_context(request, verifies=verifies),
        cookies=[
            {"name": name, "value": value.strip(), "url": url}
            for name, value in _COOKIE.findall(_header(request, "Cookie"))
        ],
    )


def _context(request: Request, *, verifies: bool) -> dict[str, Any]:
    options: dict[str, Any] = {
        "accept_downloads": False,
        "ignore_https_errors": not verifies,
        # They would answer instead of the site, or load what nobody sees.
        "service_workers": "block",
    }
    if agent := _header(request, "User-Agent"):
        options["user_agent"] = agent
    if language := _LANGUAGE.match(_header(request, "Accept-Language")):
        options["locale"] = language[0]
    if proxy := request.meta.get("proxy"):
        options["proxy"] = _proxy(proxy, _header(request, "Proxy-Authorization"))
    return options


def _proxy(address: str, authorization: str) -> dict[str, str]:
    """Scrapy's middleware has moved name and password from the address to a header."""
    parts = urlsplit(address if "://" in address else f"http://{address}")
    proxy = {"server": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            user, _, password = (
                base64.b64decode(encoded, validate=True).decode("latin-1").partition(":")
            )
        except binascii.Error:
            return proxy
        proxy |= {"username": user, "password": password}
    return proxy


def _header(request: Request, name: str) -> str:
    return (request.headers.get(name) or b"").decode("latin-1")

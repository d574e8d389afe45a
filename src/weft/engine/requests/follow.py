"""`yield FollowAll(links)`: the links of a page as one batch, without a Request for each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import can_ada
from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.link import Link
from scrapy.utils.response import get_base_url

from weft.urls import NO_URL

_WEB = ("http://", "https://")


@dataclass(frozen=True)
class FollowAll:
    """Links that a callback wants to follow: absolute, relative to the page, or from a link
    extractor.

    They are plain GETs: without headers, cookies or body of their own, and without a Referer. Links
    that are known, that are not http or https, or that are outside the spider's `allowed_domains`
    are skipped; depth and length are limited as for any request. Spider middlewares do not see
    them.
    """

    links: Iterable[str | Link]
    #: A method of the spider; None: its `parse`.
    callback: Callable[..., Any] | None = None
    kind: Literal["data", "nav"] = "data"
    priority: int = 0
    cb_kwargs: Mapping[str, Any] = field(default_factory=dict)
    #: A method of the spider, called if there is no answer.
    errback: Callable[..., Any] | None = None
    #: How deep the linked pages are; None: one deeper than the page.
    depth: int | None = None


def link_request(batch: FollowAll, url: str, depth: int) -> Request:
    """One link of a batch as a request."""
    meta = {"depth": depth} | ({} if batch.kind == "data" else {"weft_kind": batch.kind})
    return Request(
        url,
        callback=batch.callback,
        errback=batch.errback,
        cb_kwargs=dict(batch.cb_kwargs),
        meta=meta,
    )


def depth_of_links(response: Response, batch: FollowAll) -> int:
    if batch.depth is not None:
        return batch.depth
    depth: int = response.meta.get("depth", 0)
    return depth + 1


def absolute_urls(response: Response, links: Iterable[str | Link]) -> Iterator[str]:
    """The URLs of links on a page, without links that do not lead to web pages."""
    base: str | None = None
    for link in links:
        url = link.url if isinstance(link, Link) else link
        if not url.startswith(_WEB):
            base = base or _base_of(response)
            url = _joined(base, url)
        if url.startswith(_WEB):
            yield url


def _base_of(response: Response) -> str:
    return get_base_url(response) if isinstance(response, TextResponse) else response.url


def _joined(base: str, href: str) -> str:
    try:
        return str((can_ada.parse(base) + href.strip()).href)
    except NO_URL:
        return ""

"""What an answer says about its page, for the refresh of lists and articles."""

from scrapy.http import Response

from weft.boards.refresh import PageVisit
from weft.boards.unchanged import etag_of, modified_of
from weft.clock import Clock


def answered(
    response: Response, clock: Clock, digest: bytes = b"", *, is_unchanged: bool = False
) -> PageVisit:
    return PageVisit(
        at_s=clock.now_ms() // 1000,
        status=304 if is_unchanged else 200,
        etag=etag_of(response.headers.get("ETag")),
        modified_s=modified_of(response.headers.get("Last-Modified")),
        digest=digest,
        is_unchanged=is_unchanged,
    )


def failed(status: int, clock: Clock, problem: str = "") -> PageVisit:
    """`status`: 0 if there was no answer."""
    return PageVisit(at_s=clock.now_ms() // 1000, status=status, problem=problem)

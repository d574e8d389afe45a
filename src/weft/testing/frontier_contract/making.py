"""Requests and outcomes for tests, with as little to say as possible."""

from collections.abc import Sequence
from typing import Any

from weft.records import Claim, Ending, Outcome, PackedRequest
from weft.urls import fingerprint, host_key

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def request(url: str, **fields: Any) -> PackedRequest:
    """A packed request for a URL, with other fields as given."""
    defaults: dict[str, Any] = {"fingerprint": fingerprint(url), "url": url, "host": host_key(url)}
    return PackedRequest(**(defaults | fields))


def requests(count: int, host: str = "a", **fields: Any) -> list[PackedRequest]:
    return [request(f"http://{host}/{i}", **fields) for i in range(count)]


def urls(claims: Sequence[Claim]) -> list[str]:
    return [claim.request.url for claim in claims]


def tokens(claims: Sequence[Claim]) -> list[int]:
    return [claim.token for claim in claims]


def done(claims: Sequence[Claim], **fields: Any) -> list[Outcome]:
    """Outcomes of these claims: done with status 200, unless given otherwise."""
    told = {"ending": Ending.DONE, "status": 200} | fields
    return [Outcome(token=claim.token, **told) for claim in claims]

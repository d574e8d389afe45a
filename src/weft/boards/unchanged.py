"""How a page that was visited before says that it is the same: by validators, or its content."""

from email.utils import formatdate, mktime_tz, parsedate_tz
from hashlib import blake2b

from weft.boards.refresh import RefreshState

#: Bytes of a digest. It is compared with the one of the same page only.
DIGEST_BYTES = 8
#: Longer ones are not kept: they would take more room than all else that is known of a page.
MAX_ETAG = 64
#: 9999 ends then.
_MAX_S = 253_402_300_799


def digest_of(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


def etag_of(header: bytes | None) -> str:
    """The ETag of an answer; empty if it has none that can be kept."""
    text = (header or b"").decode("latin-1").strip()
    return text if len(text) <= MAX_ETAG and text.isprintable() else ""


def modified_of(header: bytes | None) -> int:
    """The Last-Modified of an answer, in seconds; 0 if it has none."""
    parsed = parsedate_tz((header or b"").decode("latin-1"))
    if parsed is None:
        return 0
    try:
        return max(0, min(int(mktime_tz(parsed)), _MAX_S))
    except (OverflowError, ValueError):
        return 0


def conditional_headers(state: RefreshState) -> dict[str, str]:
    """With these, a server need not send a page that has not changed."""
    headers = {}
    if state.etag:
        headers["If-None-Match"] = state.etag
    if state.modified_s:
        headers["If-Modified-Since"] = formatdate(state.modified_s, usegmt=True)
    return headers

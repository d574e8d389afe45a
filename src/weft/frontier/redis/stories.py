"""What became of requests: a log of compressed chunks for each page kind, and for what was dropped.

The seen sets only say that a URL is known. When, from where and what came of it is told here: each
`finish` appends one chunk; when there are many, they are put together into bigger ones, which take
less.

Pages that wait are visited again and again: what became of them is in logs of their own, and only
the last visits are kept. Their URLs stand in their requests.
"""

from collections.abc import Sequence

import msgspec

from weft.frontier.redis.blocks import QUICK_LEVEL, compress, decompress
from weft.frontier.redis.entry import Entry
from weft.records import Ending, Fetch, Outcome, PackedRequest, PageKind

#: Chunks that are put together into a bigger one.
CHUNKS = 128
#: Visits that are kept of a page that waits, on average.
VISITS = 2
DROPPED = "dropped"
DROP_LOG = f"stories:{DROPPED}"
FAMILIES = ("nav", "data", DROPPED)
#: In the order in which `finish` is given them.
LOGS = ("stories:nav", "stories:data", "visits:nav", "visits:data")
_MERGED = {"stories": "history", "visits": "visited"}


class Story(msgspec.Struct, frozen=True, array_like=True):
    """One ended claim; or a request that was kept out, with the rule as note."""

    url: str
    fingerprint: int
    url_fingerprint: int
    found_on: int
    seen_at_ms: int
    at_ms: int
    ending: int
    status: int
    note: str

    def is_about(self, fingerprint: int) -> bool:
        if self.url_fingerprint and fingerprint == self.url_fingerprint:
            return True
        return fingerprint == self.fingerprint

    def fetch(self, kind: PageKind) -> Fetch:
        return Fetch(self.at_ms, Ending(self.ending), self.status, self.note, kind)


def story(
    request: PackedRequest, entry: Entry, outcome: Outcome, now_ms: int, *, waits: bool
) -> Story:
    """`waits`: its page waits from now on, and its request tells its URL."""
    return Story(
        url="" if waits else request.url,
        fingerprint=request.fingerprint,
        url_fingerprint=request.url_fingerprint,
        found_on=request.found_on,
        seen_at_ms=entry.at_ms,
        at_ms=now_ms,
        ending=outcome.ending,
        status=outcome.status,
        note=outcome.note,
    )


def log_of(kind: PageKind, *, waits: bool) -> str:
    """Where the end of a claim is told; `waits`: its page waits from now on."""
    return f"{'visits' if waits else 'stories'}:{kind.name.lower()}"


def is_of_visits(log: str) -> bool:
    return log.startswith("visits:")


def merged_log(log: str) -> str:
    """Where the bigger chunks of a log are."""
    name, family = log.split(":")
    return f"{_MERGED[name]}:{family}"


def logs_of(family: str) -> list[str]:
    """All that tell of a family, those with the older chunks first."""
    names = (
        ("history", "stories") if family == DROPPED else ("visited", "visits", "history", "stories")
    )
    return [f"{name}:{family}" for name in names]


def drop_story(request: PackedRequest, now_ms: int) -> Story:
    return Story(
        url=request.url,
        fingerprint=request.fingerprint,
        url_fingerprint=0,  # its URL may be known all the same
        found_on=request.found_on,
        seen_at_ms=now_ms,
        at_ms=now_ms,
        ending=Ending.DROPPED,
        status=0,
        note=request.dropped_by,
    )


def pack(stories: Sequence[Story]) -> bytes:
    """One chunk, in a hurry; nothing if there are none."""
    return compress(stories, QUICK_LEVEL) if stories else b""


def unpack(chunk: bytes) -> list[Story]:
    return decompress(chunk, Story)

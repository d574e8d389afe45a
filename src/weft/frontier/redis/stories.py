"""What became of requests: a log of compressed chunks for each page kind, and for what was dropped.

The seen sets only say that a URL is known. When, from where and what came of it is told here: each
`finish` appends one chunk; when there are many, they are put together into bigger ones, which take
less.
"""

from collections.abc import Iterable, Sequence

import msgspec

from weft.frontier.redis.blocks import QUICK_LEVEL, compress, decompress
from weft.frontier.redis.entry import Entry
from weft.records import Ending, Fetch, Outcome, PackedRequest, PageKind

#: Chunks that are put together into a bigger one.
CHUNKS = 128
DROPPED = "dropped"
FAMILIES = ("nav", "data", DROPPED)


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


def story(request: PackedRequest, entry: Entry, outcome: Outcome, now_ms: int) -> Story:
    return Story(
        url=request.url,
        fingerprint=request.fingerprint,
        url_fingerprint=request.url_fingerprint,
        found_on=request.found_on,
        seen_at_ms=entry.at_ms,
        at_ms=now_ms,
        ending=outcome.ending,
        status=outcome.status,
        note=outcome.note,
    )


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


def merge(chunks: Iterable[bytes]) -> bytes:
    return compress([story for chunk in chunks for story in unpack(chunk)])

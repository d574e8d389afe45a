"""How a crawl gets on, and how it ended: what the engine tells, and those who start it hear.

A worker process tells its supervisor in words, each a line of JSON.
"""

import msgspec

from weft.errors import WeftError
from weft.records import Stats

#: Time between two looks at a running crawl.
WATCH_S = 0.25
#: Share of the newest look in a smoothed rate.
SMOOTHING = 0.2


class Progress(msgspec.Struct, frozen=True):
    """A running crawl at one moment."""

    elapsed_s: float
    pages: int
    items: int
    errors: int
    stats: Stats
    #: It was told to stop and waits for what is under way.
    is_stopping: bool


class Report(msgspec.Struct, frozen=True):
    """A crawl that has ended."""

    #: Scrapy's word for why: finished, shutdown, max_pages …
    reason: str
    progress: Progress
    #: Where items went, as it may be shown.
    sinks: tuple[str, ...]
    #: Requests that failed, by kind.
    failures: dict[str, int]
    #: Requests that a rule refused, such as robots.txt.
    refused: int
    #: Items that a pipeline of the project failed on.
    item_errors: int
    #: How often a sink refused an item.
    dead_letters: int
    error: WeftError | None


class Word(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker tells; one of these."""

    progress: Progress | None = None
    report: Report | None = None
    #: It could not crawl, and another would not be able to either.
    failure: str = ""


def encode_word(word: Word) -> bytes:
    return msgspec.json.encode(word, enc_hook=str) + b"\n"


def decode_word(line: bytes) -> Word:
    return msgspec.json.decode(line, type=Word, dec_hook=lambda _, text: WeftError(text))


class Rate:
    """Pages per second, smoothed over some looks."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self._per_s = 0.0

    def update(self, pages: int, at_s: float) -> float:
        last, self._last = self._last, (pages, at_s)
        if last is None or at_s <= last[1]:
            return self._per_s
        now = (pages - last[0]) / (at_s - last[1])
        self._per_s += (now - self._per_s) * (SMOOTHING if self._per_s else 1)
        return self._per_s

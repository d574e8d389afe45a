"""The progress of a crawl, and how it ended: from the engine to those that start it.

A worker process sends its supervisor words, each a line of JSON.
"""

import msgspec

from weft.errors import WeftError
from weft.records import Stats

#: Time between two looks at a running crawl.
WATCH_S = 0.25
#: Weight of the newest look in a smoothed rate.
SMOOTHING = 0.2


def tell_counts(stats: Stats) -> str:
    """`3 queued, 10 done, 1 held`: where a crawl stands, for people."""
    told = [f"{stats.queued - stats.held + stats.parked:,} queued", f"{stats.done:,} done"]
    for number, what in (
        (stats.claimed, "in progress"),
        (stats.failed, "failed"),
        (stats.held, "held"),
    ):
        if number:
            told.append(f"{number:,} {what}")
    return ", ".join(told)


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

    #: Scrapy's reason: finished, shutdown, max_pages …
    reason: str
    progress: Progress
    #: Where items went, safe to display.
    sinks: tuple[str, ...]
    #: Requests that failed, by kind.
    failures: dict[str, int]
    #: Requests refused by a rule, such as robots.txt.
    refused: int
    #: Items that failed in a pipeline of the project.
    item_errors: int
    #: How often a sink refused an item.
    dead_letters: int
    error: WeftError | None


class Word(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker sends; one of these is set."""

    progress: Progress | None = None
    report: Report | None = None
    #: It could not crawl, and another worker could not either.
    failure: str = ""


def encode_word(word: Word) -> bytes:
    return msgspec.json.encode(word, enc_hook=str) + b"\n"


def decode_word(line: bytes) -> Word:
    return msgspec.json.decode(line, type=Word, dec_hook=lambda _, text: WeftError(text))


class Rate:
    """Pages per second, smoothed over several looks."""

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

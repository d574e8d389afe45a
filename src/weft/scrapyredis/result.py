"""The result of an import; without Scrapy, for code that only shows it."""

from enum import Enum, auto

import msgspec

#: Skipped entries whose reasons are kept.
MAX_REASONS = 5


class Dupefilter(Enum):
    """What became of the dupefilter."""

    NOT_WANTED = auto()
    EMPTY = auto()
    LEARNED = auto()
    #: Left out, because entries of the queue were skipped.
    LEFT_OUT = auto()


class TransferResult(msgspec.Struct):
    """How far an import has come."""

    #: Entries in the queue of scrapy-redis.
    total: int = 0
    queued: int = 0
    known: int = 0
    skipped: int = 0
    #: Why the first entries were skipped.
    reasons: list[str] = []
    learned: int = 0
    dupefilter: Dupefilter = Dupefilter.NOT_WANTED

    @property
    def read(self) -> int:
        return self.queued + self.known + self.skipped

"""The parts of Scrapy for which Weft has faster ones."""

from enum import StrEnum


class ScrapyPart(StrEnum):
    """What WEFT_SCRAPY_PARTS can name: Scrapy's own part is then used."""

    #: The engine, what calls the middlewares, and what handles a callback's output.
    ENGINE = "engine"
    #: The download handler of http and https.
    HANDLER = "handler"
    #: What sends signals.
    SIGNALS = "signals"
    #: What gathers statistics.
    STATS = "stats"
    #: What makes the log lines of pages and items.
    LOG = "log"
    #: Duplicates are dropped by the scheduler, and not before.
    DUPLICATES = "duplicates"

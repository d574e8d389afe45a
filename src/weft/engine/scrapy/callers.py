"""What Scrapy does not tell an add-on: which command made a crawler, and the spider's arguments.

Both are known to functions that are being called at that time, so they are looked up there. This is
done once, when a crawler starts.
"""

import inspect
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from scrapy.crawler import Crawler

#: Commands that look at pages and have no job, and commands derived from them.
INSPECTING = frozenset(
    f"scrapy.commands.{name}" for name in ("bench", "check", "fetch", "parse", "shell", "view")
)
_CRAWLING = ("crawl", "crawl_async")


def is_inspecting() -> bool:
    """Whether this is called on behalf of a command that only looks at pages."""
    callers = (type(frame.f_locals.get("self")) for frame in _frames())
    return any(part.__module__ in INSPECTING for caller in callers for part in caller.__mro__)


def spider_arguments(crawler: Crawler) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """What the spider of this crawler, which is about to start, was given."""
    for frame in _frames():
        if frame.f_code.co_name in _CRAWLING and frame.f_locals.get("self") is crawler:
            return frame.f_locals["args"], frame.f_locals["kwargs"]
    return (), {}  # it was made by other means, and has no job


def _frames() -> Iterator[FrameType]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame
        frame = frame.f_back

"""Refuses compressed bodies in many thousand parts: unpacking them would take too long.

A gzip body may have any number of members, and a zstd body any number of frames, which may be
empty. Scrapy unpacks about ten thousand of them a second, and the unpacked size says nothing about
their number. Servers send one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import scrapy.downloadermiddlewares.httpcompression as scrapy_unpacking

#: Maximum number of members or frames of a body.
MAX_PARTS = 1_000
#: Minimum size of each.
PART_BYTES = 8

#: How parts begin, by the function that unpacks them.
_STARTS = {
    "gunzip": (b"\x1f\x8b\x08",),
    "_unzstd": (b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"),
}


def refuse_many_parts() -> None:
    """For the whole process, and only for bodies that nobody could wait for."""
    for name, starts in _STARTS.items():
        unpack = getattr(scrapy_unpacking, name, None)
        if unpack is not None and not hasattr(unpack, "__wrapped__"):
            setattr(scrapy_unpacking, name, _bounded(unpack, starts))


def _bounded(unpack: Callable[..., bytes], starts: tuple[bytes, ...]) -> Callable[..., bytes]:
    @wraps(unpack)
    def bounded(data: bytes, *args: Any, **kwargs: Any) -> bytes:
        if len(data) > MAX_PARTS * PART_BYTES:
            parts = sum(data.count(start) for start in starts)
            if parts > MAX_PARTS:
                raise ValueError(f"packed in some {parts:,} parts, more than {MAX_PARTS:,}")
        return unpack(data, *args, **kwargs)

    return bounded

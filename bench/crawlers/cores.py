"""Cores: one for the web server, the others for the crawler.

In a real crawl the server is elsewhere. Here it runs next to the crawler, and the choice of cores
changes the cost of a page by a tenth.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

Cores = frozenset[int]


class Split(NamedTuple):
    server: Cores
    crawler: Cores


def all_cores() -> Cores:
    """The cores that we may use; empty if the system does not say."""
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


def apart() -> Split:
    """If there is only one core, both use it."""
    cores = all_cores()
    if len(cores) < 2:
        return Split(cores, cores)
    last = frozenset({max(cores)})
    return Split(last, cores - last)


@contextmanager
def kept_to(cores: Cores) -> Iterator[None]:
    """Run this thread, and what it starts, on these cores only."""
    before = all_cores()
    _keep_to(cores)
    try:
        yield
    finally:
        _keep_to(before)


def _keep_to(cores: Cores) -> None:
    if sys.platform == "linux":
        os.sched_setaffinity(0, cores)

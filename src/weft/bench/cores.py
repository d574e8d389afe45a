"""Cores: one for the server of the pages, the others for who crawls them.

The server of a real crawl is elsewhere. Here it runs beside the crawler, and on which cores the two
happen to meet makes a tenth of what a page costs.
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
    """Those that we may use; none where the system does not tell."""
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


def apart() -> Split:
    """Where there is but one core, both have it."""
    cores = all_cores()
    if len(cores) < 2:
        return Split(cores, cores)
    last = frozenset({max(cores)})
    return Split(last, cores - last)


@contextmanager
def kept_to(cores: Cores) -> Iterator[None]:
    """This thread, and what it starts, run on these cores only."""
    before = all_cores()
    _keep_to(cores)
    try:
        yield
    finally:
        _keep_to(before)


def _keep_to(cores: Cores) -> None:
    if sys.platform == "linux":
        os.sched_setaffinity(0, cores)

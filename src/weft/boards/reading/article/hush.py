"""Keeps to itself what trafilatura logs while it reads a page for Weft.

It reports every page without text. A program that uses trafilatura, too, hears what its own calls
report: only the thread that reads is silent, and only while it reads.
"""

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

import trafilatura.core

Result = TypeVar("Result")

_here = threading.local()


def hushed(work: Callable[[], Result]) -> Result:
    """What `work` returns; what trafilatura logs meanwhile is dropped."""
    _here.is_hushed = True
    try:
        return work()
    finally:
        _here.is_hushed = False


def _is_heard(_: logging.LogRecord) -> bool:
    return not getattr(_here, "is_hushed", False)


def _hush_loggers(package: str) -> None:
    """A logger does not ask the filters of those above it, so each gets its own."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == package:
            logging.getLogger(name).addFilter(_is_heard)


# By now its modules have made their loggers.
_hush_loggers(trafilatura.__name__)

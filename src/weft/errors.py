"""All errors that Weft raises on purpose. Their messages say what to do.

WeftError
├── ConfigError         an invalid setting or option
│   ├── NotThereError       there is no job, node, board or token of this name
│   └── LostNodeError       a node that cannot be told anything
├── TargetError         a crawl target that does not exist
├── PageError           a page that cannot be read
├── PackError           a request that cannot be stored
│   ├── UnpackableError     it is kept in memory instead
│   └── FingerprintError    the project's fingerprinter failed
├── EngineError         a version of Scrapy, Twisted or redis-py that Weft does not support
└── StoreError          the frontier or a sink cannot continue
    ├── NotObeyedError      workers have not done yet what they were told
    ├── SinkDownError       a sink cannot be reached now; it is retried
    ├── StoreLockedError    another process has it open
    ├── StoreMissingError   there is nothing at that place
    ├── StoreFormatError    written by a newer Weft
    └── StoreFullError      no space left on the disk
"""

import errno
import os
import re
from pathlib import Path


class WeftError(Exception):
    """Base of all errors that Weft raises on purpose."""


class ConfigError(WeftError):
    """A setting, option or store address is wrong; the message names it and says how to fix it."""


class NotThereError(ConfigError):
    """There is no job, node, board or token of this name; the message says which there are."""


class LostNodeError(ConfigError):
    """A node is lost: nobody can tell it anything."""


class TargetError(WeftError):
    """The target given to `weft crawl` does not exist."""


class PageError(WeftError):
    """A page is too large or too deep to be read, or takes too long; the message says which."""

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        #: The limit that it exceeds: `bytes`, `tags`, `depth`, `attributes` or `seconds`; empty if
        #: something else is wrong.
        self.limit = limit


class PackError(WeftError):
    """A request contains something that cannot be stored; the message names request and field."""

    def __init__(self, request: str, field: str, problem: str) -> None:
        super().__init__(f"cannot store {request}: {field} {problem}")
        self.field = field
        self.problem = problem


class UnpackableError(PackError):
    """A request contains something that would not come back as it is: it is kept in memory."""


class FingerprintError(PackError):
    """The project's fingerprinter failed for this request."""

    def __init__(self, request: str, setting: str, problem: Exception) -> None:
        told = f"{type(problem).__name__}: {problem}"
        super().__init__(request, setting, f"raised {told}")


class EngineError(WeftError):
    """A library lacks what Weft needs: install a version that this Weft works with."""


class StoreError(WeftError):
    """The frontier or a sink cannot continue. Nothing that it had accepted is lost."""


class NotObeyedError(StoreError):
    """Workers have not done in time what they were told. The order stands."""


class SinkDownError(StoreError):
    """A sink cannot be reached at the moment. The crawl waits for it."""


class StoreLockedError(StoreError):
    """Another process has this store open."""


class StoreMissingError(StoreError):
    """There is no store at that place."""


class StoreFormatError(StoreError):
    """The store was written by a newer Weft."""


class StoreFullError(StoreError):
    """The disk is full."""


def store_error(place: str, problem: BaseException) -> StoreError:
    """Turn a failed read or write of `place` into one of our errors."""
    text = str(problem)
    is_full = getattr(problem, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    if is_full or "No space left" in text or "disk is full" in text:
        return StoreFullError(
            f"no space left on the disk of {place}; nothing is lost: free some space, "
            "then run the same command again"
        )
    if _is_forbidden(problem):
        reason = getattr(problem, "strerror", None) or text
        return StoreError(
            f"{place} cannot be used: {_nearest(place)} cannot be written ({reason}); make it "
            "writable, run this in another directory, or choose another place with --store, -o or "
            "JOBDIR"
        )
    cure = "fix that, or choose another place with --store or -o"
    return StoreError(f"{place} cannot be used: {text}; {cure}")


def _is_forbidden(problem: BaseException) -> bool:
    """Whether the system does not let us write."""
    # RocksDB's errors have no number of their own.
    told = re.search(r"\(os error (\d+)\)", str(problem))
    number = int(told[1]) if told else getattr(problem, "errno", None)
    return number in (errno.EACCES, errno.EPERM, errno.EROFS)


def _nearest(place: str) -> Path:
    """What is there of a path: the whole of it, or the directory in which the rest is to be."""
    path = Path(place).absolute()
    return next(each for each in (path, *path.parents) if os.access(each, os.F_OK))

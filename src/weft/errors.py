"""Everything Weft raises on purpose. The text of an error says what to do about it.

WeftError
├── ConfigError         a setting or option that cannot be
├── TargetError         a crawl target that does not exist
├── PackError           a request that cannot be stored
│   └── FingerprintError    the project's fingerprinter failed
├── EngineError         this Scrapy is not one that Weft knows
└── StoreError          the frontier or a sink cannot go on
    ├── SinkDownError       a sink cannot be reached now; it is tried again
    ├── StoreLockedError    another process has it open
    ├── StoreMissingError   there is nothing at that place
    ├── StoreFormatError    written by a newer Weft
    └── StoreFullError      no space left on the disk
"""

import errno


class WeftError(Exception):
    """Base of all errors that Weft raises on purpose."""


class ConfigError(WeftError):
    """A setting, option or store address is wrong; the message names it and its cure."""


class TargetError(WeftError):
    """What `weft crawl` was told to crawl does not exist."""


class PackError(WeftError):
    """A request holds something that cannot be stored; the message names the request and field."""

    def __init__(self, request: str, field: str, problem: str) -> None:
        super().__init__(f"cannot store {request}: {field} {problem}")
        self.field = field
        self.problem = problem


class FingerprintError(PackError):
    """The fingerprinter of the project cannot say which request this is."""

    def __init__(self, request: str, problem: Exception) -> None:
        told = f"{type(problem).__name__}: {problem}"
        super().__init__(request, "REQUEST_FINGERPRINTER_CLASS", f"raised {told}")


class EngineError(WeftError):
    """Scrapy lacks a part that Weft needs: install the version that this Weft was made for."""


class StoreError(WeftError):
    """The frontier or a sink cannot go on. Nothing that it had taken is lost."""


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
    """What a failed read or write of `place` is in our words."""
    text = str(problem)
    is_full = getattr(problem, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    if is_full or "No space left" in text or "disk is full" in text:
        return StoreFullError(
            f"no space left on the disk of {place}; nothing is lost: free some space, "
            "then run the same command again"
        )
    cure = "put that right, or choose another place with --store or -o"
    return StoreError(f"{place} cannot be used: {text}; {cure}")

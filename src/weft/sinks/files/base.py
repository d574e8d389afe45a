"""The two interfaces of an export: how its items are shown, and where."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Destination(Protocol):
    """Where one file goes. Blocking. Every call is self-contained, including its connections.

    Raises `SinkDownError` if a server cannot be reached, `StoreError` for permanent errors.
    """

    #: Safe to display: without a password.
    place: str
    #: Where the file is written before it replaces the old one.
    scratch: Path

    def check(self) -> None:
        """Check whether files can be written here, without leaving a trace."""
        ...

    def find(self) -> str:
        """Return what identifies the file there; "" if there is none, or it is empty."""
        ...

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        """Replace what is there with the file at `scratch`, atomically. Before that, call `note`
        with what `find` will return afterwards. Call `sign` repeatedly meanwhile."""
        ...

    def remove(self) -> None:
        """Also called if there is no file."""
        ...


class Outlet(Protocol):
    """Shows the items of a journal. Blocking, for one thread; `abandon` may be called from another.

    The next `show`, in this process or another, repeats whatever was interrupted.
    """

    #: Safe to display: without a password.
    place: str
    #: How many new items, or how much time since the last one, make a `show` due.
    every_items: float
    every_s: float

    def open(self) -> None:
        """Raises for anything known to prevent items from being shown. After a `SinkDownError` it
        is open all the same."""
        ...

    def show(self, *, is_last: bool) -> None:
        """Bring the output up to date. Unless `is_last`, it may be postponed: raises
        `StoreLockedError` if another process is showing."""
        ...

    def abandon(self) -> None:
        """Make a running `show` end soon."""
        ...

    def clear(self) -> None:
        """Remove what is shown; the items are already deleted."""
        ...

    def close(self) -> None:
        """Also called when it is not open."""
        ...

"""The two seams of an export: how its items are shown, and where."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Place(Protocol):
    """Where one file goes. Blocking; every call is complete in itself, connections included.

    Raises `SinkDownError` if a server cannot be reached, `StoreError` for what will not go away.
    """

    #: As it may be shown: without a password.
    name: str
    #: Where the file is made before it is put in place.
    scratch: Path

    def check(self) -> None:
        """Find out whether files can be put here, without a trace."""
        ...

    def find(self) -> str:
        """What tells the file that is there from every other; "": there is none, or it is empty."""
        ...

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        """Put the file at `scratch` in place of what is there, at one stroke. Before that, `note`
        is told what `find` will say afterwards. `sign` is called again and again meanwhile."""
        ...

    def remove(self) -> None:
        """Also called if there is none."""
        ...


class Outlet(Protocol):
    """Shows the items of a journal. Blocking, for one thread; only `abandon` may come from another.

    Whatever is interrupted is done again by the next `show`, of this process or another.
    """

    #: As it may be shown: without a password.
    place: str
    #: How many new items, or how much time after the last, are reason for a `show`.
    every_items: float
    every_s: float

    def open(self) -> None:
        """Tells whatever would keep items from being shown, as far as it can be known. After a
        `SinkDownError` it is open all the same."""
        ...

    def show(self, *, is_last: bool) -> None:
        """Bring the output up to date. If it is not the last time, that may be left to another
        time: `StoreLockedError` if another process is at it."""
        ...

    def abandon(self) -> None:
        """Let a `show` that is under way end soon."""
        ...

    def clear(self) -> None:
        """Remove what is shown; the items have gone already."""
        ...

    def close(self) -> None:
        """Also called when it is not open."""
        ...

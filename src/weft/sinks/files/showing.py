"""Lets one process at a time show, of all that share a journal."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from weft.errors import StoreLockedError
from weft.sinks.disk.filelock import FileLock

#: How long to wait for a process that is showing but makes no progress.
STUCK_S = 30.0


class ShowLock:
    def __init__(self, lock: Path) -> None:
        self._lock = FileLock(lock)
        self._is_abandoned = Event()

    @contextmanager
    def taken(self, *, is_patient: bool) -> Iterator[None]:
        self._is_abandoned.clear()
        with self._lock.locked(STUCK_S if is_patient else 0):
            yield

    def abandon(self) -> None:
        """Make a running `show` of this process end soon. May be called from any thread."""
        self._is_abandoned.set()

    def sign(self) -> None:
        """Show the processes that wait that we make progress."""
        self._lock.touch()

    def sign_or_end(self) -> None:
        if self._is_abandoned.is_set():
            raise StoreLockedError("left for later")
        self.sign()

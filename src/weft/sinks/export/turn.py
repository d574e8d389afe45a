"""Whose turn it is to show: one process at a time, among all that share a journal."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from weft.errors import StoreLockedError
from weft.sinks.filelock import FileLock

#: How long to wait for a process that shows and does not get on.
STUCK_S = 30.0


class Turn:
    def __init__(self, lock: Path) -> None:
        self._lock = FileLock(lock)
        self._is_abandoned = Event()

    @contextmanager
    def taken(self, *, is_patient: bool) -> Iterator[None]:
        self._is_abandoned.clear()
        with self._lock.held(STUCK_S if is_patient else 0):
            yield

    def abandon(self) -> None:
        """From any thread: who has the turn shall end it soon."""
        self._is_abandoned.set()

    def sign(self) -> None:
        """Who has the turn gets on."""
        self._lock.touch()

    def sign_or_end(self) -> None:
        if self._is_abandoned.is_set():
            raise StoreLockedError("left to a later turn")
        self.sign()

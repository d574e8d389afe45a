"""A lock between processes. A process waits for it as long as the holder makes progress."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from weft.clock import monotonic_s
from weft.errors import StoreLockedError

POLL_S = 0.01


class FileLock:
    """The kernel releases it when the process that holds it dies; the file stays.

    The lock is on the file itself, not on its name: `flock` where that exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self, wait_s: float) -> Iterator[None]:
        """Hold the lock; `StoreLockedError` if its holder gives no sign of life for `wait_s`."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._wait(descriptor, wait_s)
            self.touch()
            yield
        finally:
            unlock_descriptor(descriptor)  # a forked child may have a copy
            os.close(descriptor)

    def touch(self) -> None:
        """Show that the holder makes progress."""
        with suppress(FileNotFoundError):  # the file was removed; the lock is still held
            os.utime(self.path)

    def _wait(self, descriptor: int, wait_s: float) -> None:
        touched_ns, give_up_at_s = -1, 0.0
        while not lock_descriptor(descriptor, blocking=False):
            now_s = monotonic_s()
            if (latest_ns := os.fstat(descriptor).st_mtime_ns) != touched_ns:
                touched_ns, give_up_at_s = latest_ns, now_s + wait_s
            if now_s >= give_up_at_s:
                raise StoreLockedError(
                    f"another process holds {self.path} and makes no progress; "
                    "end it, then run the same command again"
                )
            time.sleep(POLL_S)

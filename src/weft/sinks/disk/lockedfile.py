"""A file with one writer: locked while it is open, and every change is on disk on return."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from weft.errors import StoreError, StoreLockedError
from weft.sinks.disk.names import prepare_path, sync_directory

#: Without O_BINARY, Windows would change the line ends.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class LockedFile:
    """Open from construction until `close`, for one thread. `StoreLockedError` if another process
    has it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        prepare_path(path)
        self._descriptor = os.open(path, _FLAGS, 0o666)
        try:
            self._lock()
            sync_directory(path.parent)
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise StoreError(f"{self.path} is not a regular file; choose another output with -o")
        if not lock_descriptor(self._descriptor, blocking=False):
            raise StoreLockedError(
                f"another process is writing to {self.path}; end it or choose another output with "
                "-o"
            )

    def is_at_path(self) -> bool:
        """Whether the path still names this file: it may have been deleted or replaced."""
        try:
            named = self.path.stat()
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(self._descriptor))

    def size_bytes(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`; fewer if the file is shorter."""
        blocks = []
        os.lseek(self._descriptor, start, os.SEEK_SET)
        while start < end and (block := os.read(self._descriptor, end - start)):
            blocks.append(block)
            start += len(block)
        return b"".join(blocks)

    def append(self, data: bytes) -> None:
        """Append `data`; if that fails, undo what was written."""
        start = self.size_bytes()
        try:
            self._write(start, data)
            self.sync()
        except BaseException:
            # Also after a failed fsync: the kernel then marks pages as clean that are not on disk.
            with suppress(OSError):
                self.cut(start)
            raise

    def _write(self, offset: int, data: bytes) -> None:
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def cut(self, size_bytes: int) -> None:
        os.ftruncate(self._descriptor, size_bytes)
        self.sync()

    def sync(self) -> None:
        """Bring to disk what a killed writer may have left in the kernel's memory."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        # A forked child has a copy of the descriptor, which would keep the lock.
        unlock_descriptor(self._descriptor)
        os.close(self._descriptor)

"""A file of JSON lines with one writer, and its repair after a write that was cut short."""

import json
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from weft.errors import StoreError, StoreLockedError
from weft.sinks.files import prepare_place, sync_directory

BLOCK_BYTES = 64 * 1024
#: Windows would write other line ends than it is told, unless it is told not to.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)

logger = logging.getLogger(__name__)


def is_json(text: bytes) -> bool:
    """Whether this is one complete JSON value; lenient (NaN), for it may come from others."""
    try:
        json.loads(text.decode())
    except (ValueError, RecursionError):
        return False
    return True


def whole_lines_bytes(data: bytes) -> int:
    """The length of the lines at the head of `data` that are complete and JSON."""
    length = 0
    for line in data.split(b"\n")[:-1]:
        if not is_json(line):
            break
        length += len(line) + 1
    return length


class LineFile:
    """Changes are on disk when the method returns. Open from construction until `close`, for one
    thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        prepare_place(path)
        self._descriptor = os.open(path, _FLAGS, 0o666)
        try:
            self._lock()
            sync_directory(path.parent)
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise StoreError(f"{self.path} is no ordinary file; choose another output with -o")
        if not lock_descriptor(self._descriptor, blocking=False):
            raise StoreLockedError(
                f"another process writes to {self.path}; end it or choose another output with -o"
            )

    def is_in_place(self) -> bool:
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
        parts = []
        os.lseek(self._descriptor, start, os.SEEK_SET)
        while start < end and (part := os.read(self._descriptor, end - start)):
            parts.append(part)
            start += len(part)
        return b"".join(parts)

    def append(self, data: bytes) -> None:
        """Write `data` at the end; if that fails, take back what was written."""
        start = self.size_bytes()
        try:
            self._write(start, data)
            os.fsync(self._descriptor)
        except BaseException:
            # Also after a failed fsync: the kernel then holds pages for clean that are not on disk.
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
        os.fsync(self._descriptor)

    def is_line_start(self, offset: int) -> bool:
        return offset == 0 or self.read(offset - 1, offset) == b"\n"

    def last_line_start(self) -> int:
        """Where the line without a newline at the end of the file starts; else the file's size."""
        end = self.size_bytes()
        while end > 0:
            start = max(0, end - BLOCK_BYTES)
            newline = self.read(start, end).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0

    def repair(self, start: int) -> None:
        """Cut off what is not whole lines of JSON from `start` on; a missing newline is added."""
        tail = self.read(start, self.size_bytes())
        kept = whole_lines_bytes(tail)
        rest = tail[kept:]
        if rest and is_json(rest):
            self.append(b"\n")
        elif rest:
            self.cut(start + kept)
            logger.warning("%s: cut off %d bytes of half-written lines", self.path, len(rest))
        else:
            os.fsync(self._descriptor)  # a killed writer may have left lines that are not on disk

    def close(self) -> None:
        # A child that was forked has a copy of the descriptor, which would keep the lock.
        unlock_descriptor(self._descriptor)
        os.close(self._descriptor)

"""The output on a disk of this machine."""

import os
from collections.abc import Callable
from pathlib import Path

from weft.sinks.files import prepare_place, sync_directory
from weft.sinks.translate import errors_of


class LocalPlace:
    """A `Place` for the file `path`; `token` tells our scratch file from those of other jobs."""

    def __init__(self, path: Path, token: str) -> None:
        self.name = str(path)
        # Where a link leads to: that is what is written, as by any other program.
        self._path = Path(os.path.realpath(path))
        # Beside the output: a file can change its name only within one disk.
        self.scratch = self._path.with_name(f".{path.name}.{token}.tmp")

    def check(self) -> None:
        with errors_of(self._path):
            prepare_place(self._path)
            self.scratch.touch()
            self.scratch.unlink()

    def find(self) -> str:
        with errors_of(self._path):
            return _stamp(self._path)

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        with errors_of(self._path):
            note(_stamp(self.scratch))  # which stays the same when it is renamed
            sign()
            self.scratch.replace(self._path)
            sync_directory(self._path.parent)

    def remove(self) -> None:
        with errors_of(self._path):
            self._path.unlink(missing_ok=True)
            sync_directory(self._path.parent)


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{status.st_size} {status.st_mtime_ns}" if status.st_size else ""

"""The output on a disk of this machine."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.names import prepare_path, sync_directory


class LocalDestination:
    """A `Destination` for the file `path`; `token` makes the name of the scratch file unique."""

    def __init__(self, path: Path, token: str) -> None:
        self.place = str(path)
        # Follows links, as any other program does when it writes.
        self._path = Path(os.path.realpath(path))
        # Beside the output: a file can only be renamed within one disk.
        self.scratch = self._path.with_name(f".{path.name}.{token}.tmp")

    def check(self) -> None:
        with errors_of(self._path):
            prepare_path(self._path)
            # Not the scratch file: another worker of the job may be about to rename it.
            TemporaryFile(dir=self._path.parent).close()

    def find(self) -> str:
        with errors_of(self._path):
            return _stamp(self._path)

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        with errors_of(self._path):
            note(_stamp(self.scratch))  # it stays the same when it is renamed
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

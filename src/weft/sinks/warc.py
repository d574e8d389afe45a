"""WARC files of raw pages, for several workers at once: each writes files of its own.

A file is called `<job>-<time>-<worker>-<number>.warc.gz`. While a worker writes it, it is locked
and its name ends in `.open`; so whatever has the final name is complete. Each batch is appended and
on disk (fsync) before `store` returns.

A worker that is killed may leave a file that ends inside a record. The next worker of the job to
open or close the archive takes up the files that nobody holds: it cuts off the half record, whose
page nobody was told to be stored, and gives the file its final name. That page is fetched again,
and so are those that were stored when their worker had not told the frontier yet: these then are in
the archive twice, which is the truth, for they were fetched twice.
"""

import logging
import os
import re
import secrets
import socket
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from weft._version import __version__
from weft.clock import Clock, SystemClock
from weft.errors import StoreError, StoreLockedError
from weft.sinks.archive import Page
from weft.sinks.blocking import BlockingOutput
from weft.sinks.files import prepare_place, sync_directory
from weft.sinks.lines import LineFile
from weft.sinks.translate import errors_of
from weft.sinks.warcrecords import info_record, page_records

#: A file that has grown to this size is followed by another.
MAX_FILE_BYTES = 1_000_000_000
OPEN_SUFFIX = ".open"
BLOCK_BYTES = 64 * 1024
_ANY_MEMBER = 16 + zlib.MAX_WBITS

logger = logging.getLogger(__name__)


class WarcArchive(BlockingOutput):
    """An `Archive` of WARC files in a directory."""

    def __init__(
        self,
        directory: str | Path,
        job: str,
        max_file_bytes: int = MAX_FILE_BYTES,
        clock: Clock | None = None,
    ) -> None:
        super().__init__("weft-warc", str(directory))
        self._directory = Path(directory)
        self._job = job or "weft"
        self._max_file_bytes = max_file_bytes
        self._clock = clock or SystemClock()
        self._worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._is_open = False
        self._file: LineFile | None = None
        self._number = 0

    async def store(self, pages: Sequence[Page]) -> None:
        await self._thread.run(self._store, pages)

    def _open(self) -> None:
        self._close()
        with errors_of(self._directory):
            prepare_place(self._directory / "any.warc.gz")
            if not os.access(self._directory, os.W_OK | os.X_OK):
                raise StoreError(
                    f"{self.place} cannot be written; check its permissions, or choose another "
                    "directory with -o warc://DIR"
                )
            self._take_up_left()
        self._is_open = True

    def _store(self, pages: Sequence[Page]) -> None:
        self._check_open()
        with errors_of(self._directory):
            for records in self._portions(pages):
                self._append(records)
                if self._size_bytes() >= self._max_file_bytes:
                    self._finish_file()

    def _portions(self, pages: Sequence[Page]) -> Iterator[bytes]:
        """The records of all pages, each portion for one file."""
        portion = BytesIO()
        for page in pages:
            portion.write(page_records(page))
            if self._size_bytes() + portion.tell() >= self._max_file_bytes:
                yield portion.getvalue()
                portion = BytesIO()
        if portion.tell():
            yield portion.getvalue()

    def _clear(self) -> None:
        self._check_open()
        with errors_of(self._directory):
            self._drop_file()
            for path in [*self._paths(OPEN_SUFFIX), *self._paths("")]:
                path.unlink(missing_ok=True)
            sync_directory(self._directory)

    def _close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        with errors_of(self._directory):
            self._finish_file()
            self._take_up_left()

    def _check_open(self) -> None:
        if not self._is_open:
            raise StoreError(f"{self.place} is not open")

    def _take_up_left(self) -> None:
        for path in self._paths(OPEN_SUFFIX):
            take_up(path)

    def _paths(self, suffix: str) -> list[Path]:
        """The files of the job: not of one whose name only begins like it."""
        name = re.compile(
            rf"{re.escape(self._job)}-\d{{17}}-.+-\d{{5,}}\.warc\.gz{re.escape(suffix)}"
        )
        return sorted(path for path in self._directory.iterdir() if name.fullmatch(path.name))

    # The own file

    def _size_bytes(self) -> int:
        return self._file.size_bytes() if self._file is not None else 0

    def _append(self, data: bytes) -> None:
        while True:
            file = self._file = self._file or self._new_file()
            file.append(data)
            if file.is_in_place():
                return
            self._drop_file()  # another worker has cleared the archive, perhaps before this

    def _new_file(self) -> LineFile:
        while True:
            at = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
            time = f"{at:%Y%m%d%H%M%S}{at.microsecond // 1000:03}"
            name = f"{self._job}-{time}-{self._worker}-{self._number:05}.warc.gz"
            self._number += 1
            try:
                file = LineFile(self._directory / f"{name}{OPEN_SUFFIX}")
            except StoreLockedError:  # another looks whether it was left by a killed worker
                continue
            return self._begin(file, name)

    def _begin(self, file: LineFile, name: str) -> LineFile:
        try:
            file.append(info_record(name, self._info()))
        except BaseException:
            with closing(file):
                file.path.unlink(missing_ok=True)
            raise
        return file

    def _info(self) -> dict[str, str]:
        return {
            "software": f"weft/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/",
            "isPartOf": self._job,
            "hostname": socket.gethostname(),
        }

    def _finish_file(self) -> None:
        if self._file is None:
            return
        try:
            if self._file.is_in_place():
                give_final_name(self._file.path)
        finally:
            self._drop_file()

    def _drop_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


# Files of workers that were killed


def take_up(path: Path) -> None:
    """Make a file complete, unless its worker lives."""
    try:
        file = LineFile(path)
    except StoreLockedError:
        return
    with closing(file):
        with path.open("rb") as source:
            whole_bytes = whole_members_bytes(source)
        if not whole_bytes:
            path.unlink(missing_ok=True)
            return
        if excess_bytes := file.size_bytes() - whole_bytes:
            logger.warning("%s: cut off %d bytes of a half-written record", path, excess_bytes)
        file.cut(whole_bytes)  # also to have on disk what a killed worker has written
        give_final_name(path)


def give_final_name(path: Path) -> None:
    path.rename(path.with_name(path.name.removesuffix(OPEN_SUFFIX)))
    sync_directory(path.parent)


def whole_members_bytes(source: BinaryIO) -> int:
    """The length of the gzip members at the head of `source` that are complete."""
    whole_bytes = read_bytes = 0
    unpacker = zlib.decompressobj(_ANY_MEMBER)
    for block in _blocks(source):
        read_bytes += len(block)
        rest = block
        while rest:
            try:
                unpacker.decompress(rest)
            except zlib.error:
                return whole_bytes
            rest = unpacker.unused_data
            if unpacker.eof:
                whole_bytes = read_bytes - len(rest)
                unpacker = zlib.decompressobj(_ANY_MEMBER)
    return whole_bytes


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    while block := source.read(BLOCK_BYTES):
        yield block

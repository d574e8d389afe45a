"""WARC files of raw pages, from several workers at once: each writes its own files.

A file is called `<job>-<time>-<worker>-<number>.warc.gz`. While a worker writes it, it is locked
and its name ends in `.open`; so a file with its final name is complete. Each batch is appended and
on disk (fsync) before `store` returns.

A killed worker may leave a file that ends inside a record. The next worker of the job that opens or
closes the archive recovers the files that no worker holds: it cuts off the incomplete record, whose
page was never reported as stored, and gives the file its final name. That page is fetched again,
and so are pages that were stored but not yet reported to the frontier: these are then in the
archive twice, which is correct, because they were fetched twice.
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
from weft.sinks.archive import RawPage
from weft.sinks.disk.blocking import BlockingOutput
from weft.sinks.disk.errors import errors_of
from weft.sinks.disk.lockedfile import LockedFile
from weft.sinks.disk.names import prepare_path, sync_directory
from weft.sinks.warc.records import info_record, page_records

#: When a file reaches this size, a new one is started.
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
        self._file: LockedFile | None = None
        self._number = 0

    async def store(self, pages: Sequence[RawPage]) -> None:
        await self._thread.run(self._store, pages)

    def _open(self) -> None:
        self._close()
        with errors_of(self._directory):
            prepare_path(self._directory / "any.warc.gz")
            if not os.access(self._directory, os.W_OK | os.X_OK):
                raise StoreError(
                    f"{self.place} cannot be written; check its permissions, or choose another "
                    "directory with -o warc://DIR"
                )
            self._recover_left()
        self._is_open = True

    def _store(self, pages: Sequence[RawPage]) -> None:
        self._check_open()
        with errors_of(self._directory):
            for records in self._portions(pages):
                self._append(records)
                if self._size_bytes() >= self._max_file_bytes:
                    self._finish_file()

    def _portions(self, pages: Sequence[RawPage]) -> Iterator[bytes]:
        """The records of all pages, in portions that each go to one file."""
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
            self._recover_left()

    def _check_open(self) -> None:
        if not self._is_open:
            raise StoreError(f"{self.place} is not open")

    def _recover_left(self) -> None:
        for path in self._paths(OPEN_SUFFIX):
            recover(path)

    def _paths(self, suffix: str) -> list[Path]:
        """The files of this job, but not of a job whose name merely starts with its name."""
        name = re.compile(
            rf"{re.escape(self._job)}-\d{{17}}-.+-\d{{5,}}\.warc\.gz{re.escape(suffix)}"
        )
        return sorted(path for path in self._directory.iterdir() if name.fullmatch(path.name))

    # Our own file

    def _size_bytes(self) -> int:
        return self._file.size_bytes() if self._file is not None else 0

    def _append(self, data: bytes) -> None:
        while True:
            file = self._file = self._file or self._new_file()
            file.append(data)
            if file.is_at_path():
                return
            self._drop_file()  # another worker has cleared the archive, perhaps before this

    def _new_file(self) -> LockedFile:
        while True:
            at = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
            time = f"{at:%Y%m%d%H%M%S}{at.microsecond // 1000:03}"
            name = f"{self._job}-{time}-{self._worker}-{self._number:05}.warc.gz"
            self._number += 1
            try:
                file = LockedFile(self._directory / f"{name}{OPEN_SUFFIX}")
            except StoreLockedError:  # another worker is checking whether a killed worker left it
                continue
            return self._begin(file, name)

    def _begin(self, file: LockedFile, name: str) -> LockedFile:
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
            if self._file.is_at_path():
                give_final_name(self._file.path)
        finally:
            self._drop_file()

    def _drop_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


# Files of killed workers


def recover(path: Path) -> None:
    """Give a file its final name, without a half-written record, unless its worker is alive."""
    try:
        file = LockedFile(path)
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
        file.cut(whole_bytes)  # also syncs what a killed worker has written
        give_final_name(path)


def give_final_name(path: Path) -> None:
    path.rename(path.with_name(path.name.removesuffix(OPEN_SUFFIX)))
    sync_directory(path.parent)


def whole_members_bytes(source: BinaryIO) -> int:
    """The length of the complete gzip members at the start of `source`."""
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

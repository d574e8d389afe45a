"""Scrapy's store of media files on a disk, made safe for several workers and for `kill -9`.

Scrapy's own fails if another process makes a directory at the same moment, and writes files in
place: one that is cut short by the death of the process counts as downloaded ever after.
"""

from io import BytesIO
from os import PathLike
from pathlib import Path
from uuid import uuid4

from scrapy.pipelines.files import FSFilesStore


def make_files_store_safe() -> None:
    """For the whole process, and for stores that are derived from Scrapy's too."""
    for name, method in (("_mkdir", _make_directory), ("persist_file", _persist_file)):
        setattr(FSFilesStore, name, method)


def _make_directory(store: FSFilesStore, directory: Path, domain: object = None) -> None:
    directory.mkdir(parents=True, exist_ok=True)


def _persist_file(
    store: FSFilesStore,
    path: str | PathLike[str],
    buf: BytesIO,
    info: object,
    meta: object = None,
    headers: object = None,
) -> None:
    file = store._get_filesystem_path(path)
    _make_directory(store, file.parent)
    scratch = file.with_name(f".{uuid4().hex}.part")
    try:
        scratch.write_bytes(buf.getvalue())
        scratch.replace(file)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise

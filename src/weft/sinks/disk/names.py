"""File names that survive a power failure: a directory entry is on disk only after an fsync."""

import os
from pathlib import Path

from weft.errors import StoreError

_HAS_OPEN_DIRECTORIES = hasattr(os, "O_DIRECTORY")


def prepare_path(path: Path) -> None:
    """Create the directories that a file at `path` needs."""
    if path.is_dir():
        raise StoreError(f"{path} is a directory; name a file in it")
    _make_directory(path.parent)


def _make_directory(directory: Path) -> None:
    if directory.is_dir():
        return
    _make_directory(directory.parent)
    directory.mkdir(exist_ok=True)
    sync_directory(directory.parent)


def sync_directory(directory: Path) -> None:
    """Write the names in `directory` to disk. Where directories cannot be opened, as on Windows,
    the system does this itself."""
    if not _HAS_OPEN_DIRECTORIES:
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

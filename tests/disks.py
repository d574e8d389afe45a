"""Small real file systems that can be filled up."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk_at(place: Path, size_mb: int) -> Iterator[Path]:
    """A tmpfs mounted at `place`; the test is skipped where that cannot be."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def unwritable(place: Path) -> Iterator[Path]:
    """A directory that nobody can write. Root could, so for root it is mounted once more."""
    place.chmod(0o555)
    if os.geteuid() == 0:
        _mount_read_only(place)
    try:
        yield place
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
        place.chmod(0o755)


def _mount_read_only(place: Path) -> None:
    for options in ("bind", "remount,bind,ro"):
        command = ["mount", "-o", options, str(place), str(place)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"cannot mount a directory: {mounted.stderr.strip()}")


def fill(disk: Path, leave_bytes: int) -> Path:
    """Use up the disk but for `leave_bytes`; deleting the returned file makes space again."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            file.truncate(max(0, file.tell() - leave_bytes))
    return ballast

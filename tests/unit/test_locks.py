"""Locks of files mean the same to every version of Weft, and do not outlive their holder."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from weft.errors import StoreLockedError
from weft.redis.server import LOCK_NAME, forget_server
from weft.sinks.disk.filelock import FileLock
from weft.sinks.disk.lockedfile import LockedFile

#: As versions before locked their files, and the kernel still does.
HOLD = """
import fcntl, sys, time
with open(sys.argv[1], "ab") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(100)
"""


@contextmanager
def held_by_an_earlier_version(path: Path) -> Iterator[None]:
    """Until it is killed with `kill -9`."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE)
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield
        finally:
            process.kill()


def test_what_an_earlier_version_writes_to_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    with held_by_an_earlier_version(path):
        with pytest.raises(StoreLockedError, match="another process is writing"):
            LockedFile(path)
        lock = FileLock(path)
        with pytest.raises(StoreLockedError, match="makes no progress"), lock.locked(0):
            pass
    LockedFile(path).close()
    with lock.locked(0):
        pass


def test_an_earlier_version_keeps_its_private_server(tmp_path: Path) -> None:
    with held_by_an_earlier_version(tmp_path / LOCK_NAME):
        with pytest.raises(StoreLockedError, match="in use by another weft"):
            forget_server(tmp_path)
        assert tmp_path.exists()


def test_an_earlier_version_sees_our_locks(tmp_path: Path) -> None:
    code = "import fcntl, sys; fcntl.flock(open(sys.argv[1], 'ab'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    path = tmp_path / "items.jsonl"
    with closing(LockedFile(path)):
        tried = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "BlockingIOError" in tried.stderr

"""Workers that are forked before they are needed, from a process that has loaded everything.

A worker that is started as a program loads Scrapy first, which is most of its start. A forked one
has it, and waits for its work. Forking is safe on Linux, while this process has one thread and has
run nothing of the user's, so it comes first of all. A worker beyond the spares, such as one in
place of another that died, is started as a program.
"""

import asyncio
import ctypes
import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Self

#: What `ps` and `top` call a forked worker.
NAME = "weft-worker"

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def can_fork() -> bool:
    """Whether a process that is forked now is as good as one that is started."""
    if sys.platform != "linux" or not (hasattr(os, "fork") and hasattr(os, "pidfd_open")):
        return False
    if threading.active_count() > 1 or None in (sys.stdin, sys.stdout, sys.stderr):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:  # an old kernel, which does not tell when a process ends
        return False
    return True


class _Streams(NamedTuple):
    """One end of each standard stream of a spare: ours or its own."""

    stdin: int
    stdout: int
    stderr: int

    def close(self) -> None:
        for stream in self:
            os.close(stream)


class Spares:
    """Forked when the context is entered. Those that were not needed end when it is left."""

    def __init__(self, number: int, run: Callable[[], None]) -> None:
        """`run`: the worker; it reads its work from standard input."""
        self._number = number
        self._run = run
        self._waiting: list[tuple[int, _Streams]] = []

    def __enter__(self) -> Self:
        for _ in range(self._number):
            self._fork()
        return self

    def __exit__(self, *exc_info: object) -> None:
        for pid, streams in self._waiting:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            streams.close()
        self._waiting = []

    async def start(self, work: bytes, max_line_bytes: int) -> "ForkedProcess | None":
        """Give a spare its work. Return None if there is none."""
        if not self._waiting:
            return None
        pid, streams = self._waiting.pop(0)
        with suppress(BrokenPipeError), os.fdopen(streams.stdin, "wb") as stdin:
            stdin.write(work)
        return ForkedProcess(
            pid,
            await _reader(streams.stdout, max_line_bytes),
            await _reader(streams.stderr, max_line_bytes),
        )

    def _fork(self) -> None:
        (stdin, to_stdin), (from_stdout, stdout), (from_stderr, stderr) = (
            os.pipe() for _ in _Streams._fields
        )
        ours, theirs = _Streams(to_stdin, from_stdout, from_stderr), _Streams(stdin, stdout, stderr)
        for file in (sys.stdout, sys.stderr):
            file.flush()  # or both would write what it holds
        parent = os.getpid()
        if pid := os.fork():
            theirs.close()
            self._waiting.append((pid, ours))
            return
        _detach_from(parent)
        for number, stream in enumerate(theirs):
            os.dup2(stream, number)
        # A stream ends when nobody can write to it any more, so no spare may hold that of another.
        for streams in (ours, theirs, *(streams for _, streams in self._waiting)):
            streams.close()
        random.seed()  # or all spares would draw the same numbers
        self._run()
        sys.exit()  # through all callers, as a program ends


def _detach_from(parent: int) -> None:
    """As `WorkerProcess`: Ctrl-C does not reach us, and we do not outlive our parent."""
    os.setsid()
    kernel = ctypes.CDLL(None)
    kernel.prctl(_PR_SET_NAME, NAME.encode())
    kernel.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:  # it has died before that
        os._exit(1)


async def _reader(stream: int, max_line_bytes: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(max_line_bytes)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(stream, "rb"))
    return reader


class ForkedProcess:
    """What a supervisor needs of `asyncio.subprocess.Process`."""

    def __init__(
        self, pid: int, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader
    ) -> None:
        self.pid = pid
        self.stdout: asyncio.StreamReader | None = stdout
        self.stderr: asyncio.StreamReader | None = stderr
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._pidfd = os.pidfd_open(pid)
        self._loop.add_reader(self._pidfd, self._end)

    def _end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        _, status = os.waitpid(self.pid, 0)
        self._ended.set_result(os.waitstatus_to_exitcode(status))

    def send_signal(self, number: int) -> None:
        if not self._ended.done():
            os.kill(self.pid, number)

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

"""One worker process, as seen by the process that started it.

It has its own session, so that Ctrl-C on the terminal does not reach it. If the process that
started it dies, the kernel kills it. The kernel does not just ask it to stop, because its store may
die at the same moment, and it would wait for that.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec

from weft.cluster.status import Work
from weft.node.spares import ForkedProcess, Spares
from weft.redis.server import bound_to_us
from weft.reports import Report, Word, decode_word

#: -P: `weft` must not import modules from the working directory.
COMMAND = (sys.executable, "-P", "-m", "weft.cli.worker")
#: How long to keep reading from a worker that has ended: its children may hold its pipes.
LAST_WORDS_S = 1.0
MAX_LINE_BYTES = 1 << 20


class WorkerProcess:
    def __init__(self, number: int, process: asyncio.subprocess.Process | ForkedProcess) -> None:
        self.number = number
        self._process = process
        self.report: Report | None = None
        self.failure = ""

    @classmethod
    async def start(cls, number: int, work: Work, spares: Spares | None = None) -> "WorkerProcess":
        given = msgspec.json.encode(work)
        if spares is not None and (spare := await spares.start(given, MAX_LINE_BYTES)):
            return cls(number, spare)
        pipe = asyncio.subprocess.PIPE
        # From the main thread, because to the kernel its end is the end of the process.
        process = await asyncio.create_subprocess_exec(
            *bound_to_us(COMMAND, signal.SIGKILL),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        return cls(number, process)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def follow(self, hear: Callable[[Word], None], pass_on: Callable[[str], None]) -> str:
        """Read its output until it ends; return how it ended. Its log is passed on line by line."""
        readers = [
            asyncio.ensure_future(self._read_words(hear)),
            asyncio.ensure_future(self._read_logs(pass_on)),
        ]
        code = await self._process.wait()
        await asyncio.wait(readers, timeout=LAST_WORDS_S)
        for reader in readers:
            reader.cancel()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def _read_words(self, hear: Callable[[Word], None]) -> None:
        async for line in _lines(self._process.stdout):
            with suppress(msgspec.DecodeError):  # it died in the middle of a line
                word = decode_word(line)
                self.report = word.report or self.report
                self.failure = word.failure or self.failure
                hear(word)

    async def _read_logs(self, pass_on: Callable[[str], None]) -> None:
        async for line in _lines(self._process.stderr):
            pass_on(line.decode(errors="replace").rstrip())


async def _lines(stream: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    assert stream is not None
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # too long, and dropped
            continue
        if not line:
            return
        yield line

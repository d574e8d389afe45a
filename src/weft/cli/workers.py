"""The supervisor of `weft crawl --workers N`: starts worker processes, watches and ends them.

Each worker has a session of its own, so that Ctrl-C on the terminal reaches the supervisor alone.
Its first Ctrl-C asks all workers to stop, which finish what is under way; the second kills them.

A worker that dies, by whatever signal, is replaced: nothing is lost, for its claims become overdue
and are taken up by the others. If the supervisor itself dies, the kernel kills its workers. It does
not ask them to stop, for their store may die at the same moment, and they would wait for it. The
private server is asked (SIGTERM), for it can still write what it has to.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

import msgspec

from weft.cli.output import warn
from weft.cli.tally import ENOUGH, FINISHED, Tally
from weft.cli.worker import Assignment, Word, decode_word
from weft.clock import monotonic_s
from weft.engine.run import WATCH_S, Progress, Report
from weft.errors import WeftError
from weft.redis.server import bound_to_us

#: -P: what lies in the working directory is not what `weft` imports.
COMMAND = (sys.executable, "-P", "-m", "weft.cli.worker")
#: So many deaths in a row without a page between them are no accident.
MAX_DEATHS = 5
#: Pause after the first death; it doubles with each further one.
BACK_OFF_S = 0.25
#: How long to go on reading from a worker that has ended: its children may hold its pipes.
LAST_WORDS_S = 1.0
MAX_LINE_BYTES = 1 << 20
#: Scrapy's reason of a crawl that a signal has ended.
SHUTDOWN = "shutdown"


class Crew(msgspec.Struct, frozen=True):
    """The workers that a crawl is to have."""

    number: int
    assignment: Assignment
    #: Pages that all of them together may crawl; 0: no limit.
    max_pages: int
    #: Forget an earlier crawl first.
    is_fresh: bool

    def shares(self) -> list[int]:
        """The pages that each worker may crawl. What is left by one that has had its share is
        there for the others, so that the sum is reached and never exceeded."""
        if not self.max_pages:
            return [0] * self.number
        number = min(self.number, self.max_pages)
        share, rest = divmod(self.max_pages, number)
        return [share + (i < rest) for i in range(number)]


def run_workers(crew: Crew, watch: Callable[[Progress], None]) -> Report | None:
    """Crawl until done. Ctrl-C stops cleanly, a second one at once: there is no report then."""
    return asyncio.run(Supervisor(crew, watch).run())


class Worker:
    """One worker process."""

    def __init__(self, number: int, process: asyncio.subprocess.Process) -> None:
        self.number = number
        self._process = process
        self.report: Report | None = None
        self.failure = ""

    @classmethod
    async def start(cls, number: int, assignment: Assignment) -> "Worker":
        pipe = asyncio.subprocess.PIPE
        # From the main thread, whose end the kernel takes for that of the whole process.
        process = await asyncio.create_subprocess_exec(
            *bound_to_us(COMMAND, signal.SIGKILL),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(assignment))
        process.stdin.close()
        return cls(number, process)

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def follow(self, hear: Callable[[Word], None]) -> str:
        """Listen until it has ended; how it did."""
        readers = [
            asyncio.ensure_future(self._read_words(hear)),
            asyncio.ensure_future(self._pass_on_logs()),
        ]
        code = await self._process.wait()
        await asyncio.wait(readers, timeout=LAST_WORDS_S)
        for reader in readers:
            reader.cancel()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def _read_words(self, hear: Callable[[Word], None]) -> None:
        async for line in _lines(self._process.stdout):
            with suppress(msgspec.DecodeError):  # it died in the middle of a word
                word = decode_word(line)
                self.report = word.report or self.report
                self.failure = word.failure or self.failure
                hear(word)

    async def _pass_on_logs(self) -> None:
        async for line in _lines(self._process.stderr):
            warn(f"[worker {self.number}] {line.decode(errors='replace').rstrip()}")


async def _lines(stream: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    assert stream is not None
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # longer than the limit, and dropped
            continue
        if not line:
            return
        yield line


class Supervisor:
    def __init__(self, crew: Crew, watch: Callable[[Progress], None]) -> None:
        self._crew = crew
        self._watch = watch
        self._tally = Tally()
        self._started_s = monotonic_s()
        self._processes = count()
        self._running: set[Worker] = set()
        self._has_begun = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stopped_by = ""
        self._is_killed = False
        self._error: WeftError | None = None

    async def run(self) -> Report | None:
        shares = self._crew.shares()
        with self._signals():
            display = asyncio.ensure_future(self._show())
            workers = [self._keep(number, share) for number, share in enumerate(shares, start=1)]
            try:
                await asyncio.gather(*workers)
            except OSError as problem:
                raise WeftError(f"a worker cannot be started: {problem}") from problem
            finally:
                display.cancel()
                self._send(signal.SIGKILL)
        if self._error is not None:
            raise self._error
        if self._is_killed:
            return None
        return self._tally.report(self._progress(), self._stopped_by)

    async def _show(self) -> None:
        while True:
            self._watch(self._progress())
            await asyncio.sleep(WATCH_S)

    def _progress(self) -> Progress:
        elapsed_s = monotonic_s() - self._started_s
        return self._tally.progress(elapsed_s, is_stopping=self._stopping.is_set())

    # One worker after the other

    async def _keep(self, number: int, share: int) -> None:
        """Have a worker until one ends by itself; who dies is replaced."""
        if number > 1 and self._crew.is_fresh:
            await self._first_of(self._has_begun)
        deaths = 0
        left = share
        while not self._stopping.is_set() and (left or not share):
            process = next(self._processes)
            worker, how = await self._run(number, process, left)
            if self._has_ended(worker):
                return
            pages = self._tally.pages_of(process)
            left = max(0, left - pages)
            deaths = 1 if pages else deaths + 1
            await self._mourn(worker, how, deaths)

    async def _run(self, number: int, process: int, max_pages: int) -> tuple[Worker, str]:
        worker = await Worker.start(number, self._assignment(max_pages))
        self._running.add(worker)
        if self._stopping.is_set():  # since this one was being started
            worker.send(signal.SIGKILL if self._is_killed else signal.SIGTERM)
        how = await worker.follow(lambda word: self._hear(process, word))
        self._running.discard(worker)
        return worker, how

    def _assignment(self, max_pages: int) -> Assignment:
        given = self._crew.assignment
        # The first worker forgets, the others wait for it.
        own: dict[str, object] = {
            "WEFT_FRESH": self._crew.is_fresh and not self._has_begun.is_set()
        }
        if max_pages:
            own |= {"WEFT_MAX_PAGES": max_pages}
        return msgspec.structs.replace(given, overrides=given.overrides | own)

    def _hear(self, process: int, word: Word) -> None:
        if word.progress is not None:
            self._tally.note(process, word.progress)
        if word.report is not None:
            self._tally.note_report(process, word.report)
        if not word.failure:
            self._has_begun.set()

    def _has_ended(self, worker: Worker) -> bool:
        """Whether it was meant to end. One that cannot go on, or was told to, ends them all."""
        if worker.failure:
            self._give_up(WeftError(worker.failure))
        elif worker.report is None or worker.report.reason == SHUTDOWN:
            return self._stopping.is_set()
        elif worker.report.reason not in (FINISHED, ENOUGH):
            self.stop(worker.report.reason)
        return True

    async def _mourn(self, worker: Worker, how: str, deaths: int) -> None:
        if deaths >= MAX_DEATHS:
            self._give_up(
                WeftError(
                    f"worker {worker.number} died {deaths} times in a row before it had fetched a "
                    f"page, the last time: {how}. Nothing is lost: find out why, then the same "
                    "command goes on"
                )
            )
            return
        warn(f"worker {worker.number} died ({how}); nothing is lost, another takes its place")
        with suppress(TimeoutError):
            async with asyncio.timeout(BACK_OFF_S * 2 ** (deaths - 1)):
                await self._stopping.wait()

    def _give_up(self, error: WeftError) -> None:
        self._error = self._error or error
        self.stop(SHUTDOWN)

    async def _first_of(self, event: asyncio.Event) -> None:
        waiting = [asyncio.ensure_future(each.wait()) for each in (event, self._stopping)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()

    # Stopping

    def stop(self, reason: str) -> None:
        """Ask all workers to end cleanly."""
        if not self._stopping.is_set():
            self._stopped_by = reason
            self._stopping.set()
            self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        for worker in self._running:
            worker.send(number)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        handlers = {
            signal.SIGINT: self._interrupt,
            signal.SIGTERM: self._interrupt,
            signal.SIGTSTP: self._pause,
        }
        loop = asyncio.get_running_loop()
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _interrupt(self) -> None:
        if not self._stopping.is_set():
            self.stop(SHUTDOWN)
            return
        self._is_killed = True
        self._send(signal.SIGKILL)

    def _pause(self) -> None:
        """Ctrl-Z, which reaches us alone too."""
        self._send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._send(signal.SIGCONT)

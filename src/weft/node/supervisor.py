"""The supervisor of one job on one machine: starts worker processes, watches and stops them.

A worker that dies from any signal is replaced. Nothing is lost, because its leases expire and
others take over its claims. After several deaths in a row the supervisor gives up.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count

import msgspec

from weft.clock import monotonic_s
from weft.cluster.status import Work
from weft.errors import WeftError
from weft.node.deaths import Deaths
from weft.node.process import WorkerProcess
from weft.node.spares import Spares
from weft.node.tally import ENOUGH, FINISHED, Tally
from weft.reports import WATCH_S, Progress, Report, Word

#: Scrapy's reason for a crawl that was ended by a signal.
SHUTDOWN = "shutdown"


class Crew(msgspec.Struct, frozen=True):
    """The workers that a crawl should have."""

    number: int
    work: Work
    #: Pages that all of them together may crawl; 0: no limit.
    max_pages: int = 0
    #: Whether to forget an earlier crawl first.
    is_fresh: bool = False

    def shares(self) -> list[int]:
        """The pages that each worker may crawl. What a worker leaves after its share is there for
        the others, so that the sum is reached and never exceeded."""
        if not self.max_pages:
            return [0] * self.number
        number = min(self.number, self.max_pages)
        share, rest = divmod(self.max_pages, number)
        return [share + (i < rest) for i in range(number)]


class RunningWorkers:
    """The worker processes of a supervisor that are running now."""

    def __init__(self) -> None:
        self._workers: set[WorkerProcess] = set()

    @property
    def pids(self) -> set[int]:
        return {worker.pid for worker in self._workers}

    def add(self, worker: WorkerProcess) -> None:
        self._workers.add(worker)

    def discard(self, worker: WorkerProcess) -> None:
        self._workers.discard(worker)

    def send(self, number: signal.Signals) -> None:
        for worker in self._workers:
            worker.send(number)


class Supervisor:
    """`watch` is called with the progress of the crawl several times a second, `warn` with messages
    for the user."""

    def __init__(
        self,
        crew: Crew,
        *,
        watch: Callable[[Progress], None],
        warn: Callable[[str], None],
        spares: Spares | None = None,
    ) -> None:
        self._crew = crew
        self._watch = watch
        self._warn = warn
        self._spares = spares
        self._tally = Tally()
        self._started_s = monotonic_s()
        self._processes = count()
        self.workers = RunningWorkers()
        self._has_begun = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stopped_by = ""
        self._is_killed = False
        self._error: WeftError | None = None
        #: Workers that ended without being asked to.
        self.deaths = 0

    @property
    def has_begun(self) -> bool:
        """Whether a worker has started to work."""
        return self._has_begun.is_set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def run(self) -> Report | None:
        """Crawl until done. Return None if the workers were killed."""
        shares = self._crew.shares()
        display = asyncio.ensure_future(self._show())
        workers = [self._keep(number, share) for number, share in enumerate(shares, start=1)]
        try:
            await asyncio.gather(*workers)
        finally:
            display.cancel()
            self.workers.send(signal.SIGKILL)
        if self._error is not None:
            raise self._error
        if self._is_killed:
            return None
        return self._tally.report(self.progress(), self._stopped_by)

    async def _show(self) -> None:
        while True:
            self._watch(self.progress())
            await asyncio.sleep(WATCH_S)

    def progress(self) -> Progress:
        elapsed_s = monotonic_s() - self._started_s
        return self._tally.progress(elapsed_s, is_stopping=self._stopping.is_set())

    # The workers of one slot, one after the other

    async def _keep(self, number: int, share: int) -> None:
        """Keep a worker running until one ends by itself; replace those that die."""
        if number > 1 and self._crew.is_fresh:
            await self._first_of(self._has_begun)
        deaths = Deaths()
        left = share
        while not self._stopping.is_set() and (left or not share):
            process = next(self._processes)
            started_s = monotonic_s()
            try:
                worker = await WorkerProcess.start(number, self._work(left), self._spares)
            except OSError as problem:
                self._give_up(WeftError(f"a worker cannot be started: {problem}"))
                return
            how = await self._follow(worker, process)
            if self._has_ended(worker):
                return
            pages = self._tally.pages_of(process)
            left = max(0, left - pages)
            deaths.note(lived_s=monotonic_s() - started_s, pages=pages)
            await self._mourn(worker, how, deaths)

    async def _follow(self, worker: WorkerProcess, process: int) -> str:
        """Read its output until it ends; return how it ended."""
        self.workers.add(worker)
        if self._stopping.is_set():  # while this one was being started
            worker.send(signal.SIGKILL if self._is_killed else signal.SIGTERM)
        how = await worker.follow(
            lambda word: self._hear(process, word),
            lambda line: self._warn(f"[worker {worker.number}] {line}"),
        )
        self.workers.discard(worker)
        return how

    def _work(self, max_pages: int) -> Work:
        given = self._crew.work
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

    def _has_ended(self, worker: WorkerProcess) -> bool:
        """Whether it was meant to end. One that cannot continue, or was told to stop, stops all."""
        if worker.failure:
            self._give_up(WeftError(worker.failure))
        elif worker.report is None or worker.report.reason == SHUTDOWN:
            return self._stopping.is_set()
        elif worker.report.reason not in (FINISHED, ENOUGH):
            self.stop(worker.report.reason)
        return True

    async def _mourn(self, worker: WorkerProcess, how: str, deaths: Deaths) -> None:
        """Give up, or pause."""
        self.deaths += 1
        if deaths.is_hopeless:
            self._give_up(
                WeftError(
                    f"worker {worker.number} died {deaths.fruitless} times in a row before it had "
                    f"fetched a page, the last time: {how}. Nothing is lost: find out why, then "
                    "run the same command to continue"
                )
            )
            return
        self._warn(f"worker {worker.number} died ({how}); nothing is lost, another takes its place")
        with suppress(TimeoutError):
            async with asyncio.timeout(deaths.pause_s):
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

    def stop(self, reason: str = SHUTDOWN) -> None:
        """Ask all workers to end cleanly."""
        if not self._stopping.is_set():
            self._stopped_by = reason
            self._stopping.set()
            self.workers.send(signal.SIGTERM)

    def kill(self) -> None:
        """Kill all workers at once."""
        self._is_killed = True
        self.stop()
        self.workers.send(signal.SIGKILL)


def freeze(supervisors: Iterable[Supervisor]) -> None:
    """Suspend us and all workers, as Ctrl-Z does, until we are resumed."""
    supervisors = list(supervisors)
    for supervisor in supervisors:
        supervisor.workers.send(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    for supervisor in supervisors:
        supervisor.workers.send(signal.SIGCONT)

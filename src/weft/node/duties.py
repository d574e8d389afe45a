"""The duties of a node, brought in line with the jobs of its store."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from weft.cluster.jobs import Job, Jobs
from weft.cluster.nodes import DutyStatus
from weft.cluster.status import JobState
from weft.config import default_job_dir
from weft.errors import StoreError, StoreMissingError
from weft.frontier import Store, open_frontier
from weft.node.duty import Duty
from weft.node.supervisor import Crew, freeze
from weft.sinks import has_left_items

#: How long the workers of a job that is stopped may take to end before they are killed.
KILL_S = 1.5


class NodeConfig(msgspec.Struct, frozen=True):
    store: Store
    name: str
    #: Workers for each job.
    processes: int
    #: That of each worker; None: by what is measured.
    weight: float | None = None

    def job_dir(self, job: Job) -> Path:
        """What a job keeps on this machine."""
        own = job.work.overrides.get("JOBDIR") if job.work else None
        return Path(own or default_job_dir(job.name))

    def crew(self, job: Job) -> Crew:
        """The workers of a job here."""
        assert job.work is not None
        own: dict[str, object] = {
            "WEFT_STORE": self.store.url,
            "WEFT_JOB": job.name,
            "WEFT_NODE": self.name,
        }
        if self.weight is not None:
            own |= {"WEFT_WEIGHT": self.weight}
        work = msgspec.structs.replace(job.work, overrides=job.work.overrides | own)
        return Crew(self.processes, work)


class Totals(msgspec.Struct):
    """What all workers of a node have done and met, also those of duties that are forgotten."""

    pages: int = 0
    errors: int = 0
    deaths: int = 0

    def add(self, duty: Duty) -> None:
        progress = duty.progress
        self.pages += progress.pages
        self.errors += progress.errors
        self.deaths += duty.supervisor.deaths


class Duties:
    def __init__(self, config: NodeConfig, jobs: Jobs, warn: Callable[[str], None]) -> None:
        self._config = config
        self._jobs = jobs
        self._warn = warn
        self._duties: dict[str, Duty] = {}
        # Jobs that were found to be finished, as they were then.
        self._finished: dict[str, tuple[int, str, str]] = {}
        # Those of them whose items were looked after.
        self._taken_up: dict[str, tuple[int, str, str]] = {}
        self._past = Totals()
        #: Nothing new is begun.
        self.is_draining = False

    async def follow(self, jobs: Sequence[Job]) -> None:
        """Serve those that are running, and no others."""
        by_name = {job.name: job for job in jobs}
        await self.bury([name for name, duty in self._duties.items() if duty.take_losses()])
        for name, duty in list(self._duties.items()):
            self._bring_in_line(name, duty, by_name.get(name))
        for job in jobs:
            if job.name not in self._duties and await self._is_to_be_served(job):
                if self.is_draining:  # since we asked
                    return
                self._warn(f"{job.name}: starts {_workers(self._config.processes)}")
                self._duties[job.name] = Duty(job, self._config.crew(job), self._warn)

    def _bring_in_line(self, name: str, duty: Duty, job: Job | None) -> None:
        if job is None or not duty.is_wanted(job):
            duty.stop(kill_after_s=KILL_S)
            is_remembered = False
        else:
            duty.note_run(job)
            is_remembered = duty.would_end_again(job) and not self.is_draining
        if duty.is_over and not is_remembered:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._past.add(self._duties.pop(name))

    async def _is_to_be_served(self, job: Job) -> bool:
        if self.is_draining or job.work is None or job.state is not JobState.RUNNING:
            return False
        return not await self._is_finished(job) or self._has_left_items(job)

    def _has_left_items(self, job: Job) -> bool:
        """Of a job that is finished: workers of ours that were killed when all others had ended may
        have left items on this machine. The next worker takes them up; once is enough."""
        as_it_is = (job.starts, job.run, job.finished)
        if job.name in self._duties or self._taken_up.get(job.name) == as_it_is:
            return False
        self._taken_up[job.name] = as_it_is
        return has_left_items(self._config.job_dir(job))

    async def _is_finished(self, job: Job) -> bool:
        if not job.finished:
            return False
        as_it_is = (job.starts, job.run, job.finished)
        if self._finished.get(job.name) == as_it_is:
            return True
        try:
            frontier = open_frontier(self._config.store, job.name, is_read_only=True)
            async with frontier:
                is_finished = await frontier.is_finished()
        except StoreMissingError:
            return False
        except StoreError:  # it is away, or cannot be read: we ask again
            return True
        if is_finished:
            self._finished[job.name] = as_it_is
        return is_finished

    async def bury(self, names: Sequence[str] | None = None) -> None:
        """Tell the others which of our workers are dead, of some jobs or of all. What bears our
        name and is not running is: also the workers of an agent before us, which died with it."""
        listed = list(self._duties) if names is None else names
        for name, workers in (await self._jobs.workers(listed)).items():
            running = self._duties[name].supervisor.pids
            ours = (worker for worker in workers if worker.status.node == self._config.name)
            dead = [worker.name for worker in ours if worker.status.pid not in running]
            await self._jobs.bury(name, dead)

    def drain(self) -> None:
        """Ask all workers to end, and begin nothing new."""
        self.is_draining = True
        for duty in self._duties.values():
            duty.stop()

    def forgive(self) -> None:
        """Forget what has failed."""
        for name, duty in list(self._duties.items()):
            if duty.has_failed:
                self._forget(name)

    def kill(self) -> None:
        for duty in self._duties.values():
            duty.supervisor.kill()

    def freeze(self) -> None:
        freeze(duty.supervisor for duty in self._duties.values())

    async def end(self) -> None:
        """Wait until no worker is left."""
        await asyncio.gather(*(duty.task for duty in self._duties.values()))

    # What they tell

    @property
    def is_idle(self) -> bool:
        return all(duty.is_over for duty in self._duties.values())

    def statuses(self) -> dict[str, DutyStatus]:
        return {name: duty.status() for name, duty in self._duties.items()}

    def totals(self) -> Totals:
        totals = msgspec.structs.replace(self._past)
        for duty in self._duties.values():
            totals.add(duty)
        return totals


def _workers(number: int) -> str:
    return f"{number} worker{'' if number == 1 else 's'}"

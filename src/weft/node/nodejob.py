"""A job that a node serves, from its first worker to its last.

Its end is remembered: what has failed here would fail again, so it is not retried until the job is
started again or started over.
"""

import asyncio
import logging
from collections.abc import Callable

from weft.clock import monotonic_s
from weft.cluster.jobs import Job
from weft.cluster.nodes import NodeJobState, NodeJobStatus
from weft.cluster.status import JobState
from weft.errors import WeftError
from weft.node.supervisor import SHUTDOWN, Crew, Supervisor
from weft.node.tally import FINISHED

logger = logging.getLogger(__name__)

#: A crawl that ended by itself but is not finished, because it has held requests, is checked again
#: after this time.
REST_S = 300.0


class NodeJob:
    """Begins at once. `warn` is called with messages for the user."""

    def __init__(self, job: Job, crew: Crew, warn: Callable[[str], None]) -> None:
        self._starts = job.starts
        self._run_of_job = job.run
        self._warn = _with_name(warn, job.name)
        self.supervisor = Supervisor(crew, watch=lambda progress: None, warn=self._warn)
        self._kill: asyncio.TimerHandle | None = None
        self._ended_at_s: float | None = None
        self._reason = ""
        self._losses: tuple[int, bool] | None = None
        self.has_failed = False
        self.task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            report = await self.supervisor.run()
            self._reason = report.reason if report else SHUTDOWN
            if report and report.error and report.reason != SHUTDOWN:
                self._fail(str(report.error))
        except WeftError as error:
            self._fail(str(error))
        except Exception as problem:  # a bug of ours fails this job, not the node
            logger.exception("a supervisor failed")
            self._fail(f"a supervisor failed: {problem!r}")
        self._ended_at_s = monotonic_s()
        if self._kill is not None:
            self._kill.cancel()
        how = "failed" if self.has_failed else "ended"
        self._warn(f"{how} here after {self.supervisor.progress().pages:,} pages: {self._reason}")

    def _fail(self, reason: str) -> None:
        self._reason = reason
        self.has_failed = True

    # Its end

    def stop(self, *, kill_after_s: float | None = None) -> None:
        """Ask the workers to end, and kill them after `kill_after_s`, if given."""
        if self.is_over:
            return
        self.supervisor.stop()
        if kill_after_s is not None and self._kill is None:
            loop = asyncio.get_running_loop()
            self._kill = loop.call_later(kill_after_s, self.supervisor.kill)

    def is_wanted(self, job: Job | None) -> bool:
        """Whether the workers are what the job needs, if it still exists."""
        if job is None or job.work is None or job.state is JobState.STOPPED:
            return False
        return job.starts == self._starts

    def would_end_again(self, job: Job) -> bool:
        """For one that is over: whether another one would end in the same way."""
        if self._ended_at_s is None or job.run != self._run_of_job:  # it was started over
            return False
        if self._reason == FINISHED:
            return monotonic_s() < self._ended_at_s + REST_S
        return self.has_failed or self._reason not in (SHUTDOWN, JobState.STOPPED)

    def note_run(self, job: Job) -> None:
        """Record the run of the job, which its first worker creates."""
        self._run_of_job = self._run_of_job or job.run

    def take_losses(self) -> bool:
        """Whether a worker may have died since the last call; always true for the first call."""
        losses = (self.supervisor.deaths, self.is_over)
        is_new, self._losses = losses != self._losses, losses
        return is_new

    # Its status

    @property
    def is_over(self) -> bool:
        return self._ended_at_s is not None

    def status(self) -> NodeJobStatus:
        workers = len(self.supervisor.workers.pids)
        return NodeJobStatus(self._state(), self._starts, workers, self._reason)

    def _state(self) -> NodeJobState:
        if self.has_failed:
            return NodeJobState.FAILED
        if self.is_over:
            return NodeJobState.ENDED
        if self.supervisor.is_stopping:
            return NodeJobState.STOPPING
        return NodeJobState.RUNNING if self.supervisor.has_begun else NodeJobState.STARTING


def _with_name(warn: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda text: warn(f"{name}: {text}")

"""Keeps the jobs that a node serves in line with the jobs of its store."""

from collections.abc import Iterable, Sequence

from weft.cluster.jobs import Job
from weft.cluster.nodes import NodeState
from weft.cluster.status import JobState
from weft.cluster.workers import Workers
from weft.node.config import NodeConfig
from weft.node.finished import FinishedJobs
from weft.node.nodejob import NodeJob
from weft.node.nodejobs import NodeJobs

#: How long the workers of a stopped job may take to end before they are killed.
KILL_S = 1.5


class JobFollower:
    def __init__(self, config: NodeConfig, workers: Workers, node_jobs: NodeJobs) -> None:
        self._config = config
        self._workers = workers
        self._node_jobs = node_jobs
        self._finished = FinishedJobs(config)
        #: Whether to start nothing new.
        self.is_draining = False

    @property
    def state(self) -> NodeState:
        if not self.is_draining:
            return NodeState.RUNNING
        is_idle = all(self._node_jobs[name].is_over for name in self._node_jobs)
        return NodeState.DRAINED if is_idle else NodeState.DRAINING

    async def follow(self, jobs: Sequence[Job]) -> None:
        """Serve the jobs that are running, and no others."""
        by_name = {job.name: job for job in jobs}
        await self.bury(name for name in self._node_jobs if self._node_jobs[name].take_losses())
        for name in self._node_jobs:
            self._bring_in_line(name, self._node_jobs[name], by_name.get(name))
        for job in jobs:
            if job.name not in self._node_jobs and await self._is_to_be_served(job):
                if self.is_draining:  # it changed while we asked
                    return
                self._node_jobs.begin(job, self._config.crew(job))

    def _bring_in_line(self, name: str, node_job: NodeJob, job: Job | None) -> None:
        if job is None or not node_job.is_wanted(job):
            node_job.stop(kill_after_s=KILL_S)
            is_remembered = False
        else:
            node_job.note_run(job)
            is_remembered = node_job.would_end_again(job) and not self.is_draining
        if node_job.is_over and not is_remembered:
            self._node_jobs.forget(name)

    async def _is_to_be_served(self, job: Job) -> bool:
        if self.is_draining or job.work is None or job.state is not JobState.RUNNING:
            return False
        return not await self._finished.has(job) or self._finished.has_left_items(job)

    async def bury(self, names: Iterable[str] | None = None) -> None:
        """Report which of our workers are dead, of some jobs or of all. Those are all with our name
        that are not running, including workers of an earlier agent, which died with it."""
        listed = [*(self._node_jobs if names is None else names)]
        for name, workers in (await self._workers.of(listed)).items():
            running = self._node_jobs[name].supervisor.workers.pids
            ours = (worker for worker in workers if worker.status.node == self._config.name)
            dead = [worker.name for worker in ours if worker.status.pid not in running]
            await self._workers.bury(name, dead)

    def drain(self) -> None:
        """Ask all workers to end, and start nothing new."""
        self.is_draining = True
        for name in self._node_jobs:
            self._node_jobs[name].stop()

    def forgive(self) -> None:
        """Forget which jobs have failed."""
        for name in self._node_jobs:
            if self._node_jobs[name].has_failed:
                self._node_jobs.forget(name)

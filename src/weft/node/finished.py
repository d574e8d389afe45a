"""Which jobs of the store are finished, and whether workers of ours have left items behind."""

from weft.cluster.jobs import Job
from weft.errors import StoreError, StoreMissingError
from weft.frontier import open_frontier
from weft.node.config import NodeConfig
from weft.sinks import has_left_items

#: A job at the time when it was looked at: if any of these has changed, it is looked at again.
_Moment = tuple[int, str, str]


class FinishedJobs:
    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._finished: dict[str, _Moment] = {}
        # Those of them that were checked for leftover items.
        self._checked: dict[str, _Moment] = {}

    async def has(self, job: Job) -> bool:
        """Whether the job is finished. A frontier that is known to be finished is not opened."""
        if not job.finished:
            return False
        if self._finished.get(job.name) == _moment(job):
            return True
        try:
            frontier = open_frontier(self._config.store, job.name, is_read_only=True)
            async with frontier:
                is_finished = await frontier.is_finished()
        except StoreMissingError:
            return False
        except StoreError:  # it is down, or cannot be read: we ask again
            return True
        if is_finished:
            self._finished[job.name] = _moment(job)
        return is_finished

    def has_left_items(self, job: Job) -> bool:
        """For a finished job: workers of ours that were killed after all others had ended may have
        left items on this machine. The next worker stores them; checking once is enough."""
        if self._checked.get(job.name) == _moment(job):
            return False
        self._checked[job.name] = _moment(job)
        return has_left_items(self._config.job_dir(job))


def _moment(job: Job) -> _Moment:
    return job.starts, job.run, job.finished

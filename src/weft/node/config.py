"""How a node serves jobs: its store, its name, and the workers that each job gets."""

from pathlib import Path

import msgspec

from weft.cluster.jobs import Job
from weft.frontier import Store, find_home
from weft.node.supervisor import Crew


class NodeConfig(msgspec.Struct, frozen=True):
    store: Store
    name: str
    #: Workers for each job.
    processes: int
    #: Of each worker; None: from its measured speed.
    weight: float | None = None

    def job_dir(self, job: Job) -> Path:
        """Where a job keeps its files on this machine."""
        own = job.work.overrides.get("JOBDIR") if job.work else None
        return find_home(job.name, job_dir=own or "", store=self.store.url).job_dir

    def crew(self, job: Job) -> Crew:
        """The workers of a job on this machine."""
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

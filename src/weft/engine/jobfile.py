"""Whether a job is finished: a small file in its directory.

An empty queue alone does not say so: the spider may have been killed before it had yielded all of
its start requests. The file names the number of requests that had been added, so that it means
nothing once the frontier was cleared, even if the process died right after that.
"""

from pathlib import Path


class JobFile:
    def __init__(self, job_dir: Path) -> None:
        self._path = job_dir / "finished"

    def is_finished(self, added: int) -> bool:
        """Whether the job ended with so many requests added."""
        try:
            return added > 0 and self._path.read_text() == str(added)
        except FileNotFoundError:
            return False

    def begin(self) -> None:
        self._path.unlink(missing_ok=True)

    def finish(self, added: int) -> None:
        self._path.write_text(str(added))

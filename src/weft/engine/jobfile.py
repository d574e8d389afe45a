"""Whether a job is finished: a small file in its directory.

An empty queue alone does not say so: the spider may have been killed before it had yielded all of
its start requests.
"""

from pathlib import Path


class JobFile:
    def __init__(self, job_dir: Path) -> None:
        self._path = job_dir / "finished"

    def is_finished(self) -> bool:
        return self._path.exists()

    def begin(self) -> None:
        """Called only after what has to be forgotten is forgotten."""
        self._path.unlink(missing_ok=True)

    def finish(self) -> None:
        self._path.touch()

"""Runs the one command of an example, as its README has it, in a copy of its files."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from fleet import are_gone
from weft.testing.waiting import wait_until

EXAMPLES = Path(__file__).parents[1] / "examples"


def copy_of(example: str, directory: Path) -> Path:
    """A directory with the example, so that nothing is left beside its files."""
    shutil.copytree(EXAMPLES / example, directory / "examples" / example)
    return directory


def shell_blocks(example: str) -> list[list[str]]:
    """The commands of its README, block by block."""
    text = (EXAMPLES / example / "README.md").read_text("utf-8")
    found = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [block.strip().splitlines() for block in found]


class Run:
    """The command of the first block."""

    def __init__(self, example: str, root: Path, temporary: Path, *options: str) -> None:
        [[command], *_] = shell_blocks(example)
        self._temporary = temporary
        self._said = root / "said.txt"
        with self._said.open("w") as output:
            self.process = subprocess.Popen(
                [*shlex.split(command), *options],
                cwd=root,
                env=os.environ | {"TMPDIR": str(temporary)},
                stdout=output,
                stderr=output,
            )

    def said(self) -> str:
        return self._said.read_text("utf-8")

    def wait_for(self, pattern: str) -> "re.Match[str]":
        wait_until(
            lambda: bool(self.process.poll() is not None or re.search(pattern, self.said())),
            description=f"it says {pattern!r}",
            timeout_s=60,
        )
        found = re.search(pattern, self.said())
        assert found, self.said()
        return found

    def interrupt(self) -> int:
        """Ctrl-C; the exit code, when everything that it had started has ended."""
        started = {child.pid for child in psutil.Process(self.process.pid).children(recursive=True)}
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        assert are_gone(started)
        assert not [*self._temporary.iterdir()]
        return code


@contextmanager
def running(example: str, root: Path, *options: str) -> Iterator[Run]:
    # A short path: the socket of a database is in it.
    with tempfile.TemporaryDirectory(prefix="weft-", ignore_cleanup_errors=True) as temporary:
        run = Run(example, root, Path(temporary), *options)
        try:
            yield run
        finally:
            run.process.kill()  # what it had started ends with it
            run.process.wait()

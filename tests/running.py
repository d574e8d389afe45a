"""Running the `weft` command, and other programs, in processes of their own."""

import signal
import subprocess
import sys
from pathlib import Path

import nursery
from weft.node.spares import NAME as FORKED

Process = subprocess.Popen[str]

WEFT = str(Path(sys.executable).with_name("weft"))


class Program:
    """Runs a command in a directory, as a user would."""

    def __init__(self, directory: Path, *command: str) -> None:
        self.directory = directory
        self._command = command

    def __call__(self, *arguments: str, timeout: float = 100) -> "subprocess.CompletedProcess[str]":
        return nursery.run([*self._command, *arguments], cwd=self.directory, timeout=timeout)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return nursery.Popen(
            [*self._command, *arguments],
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt_after(
        self, delay_s: float, number: signal.Signals, *arguments: str
    ) -> "subprocess.CompletedProcess[str]":
        """Start it, send it a signal after a while, and wait for its end."""
        process = self.start(*arguments)
        try:
            process.wait(delay_s)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class Weft(Program):
    def __init__(self, directory: Path) -> None:
        super().__init__(directory, WEFT)


class Python(Program):
    """With `-m` and a module, or a script."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        super().__init__(directory, sys.executable, *arguments)


def is_worker(pid: int) -> bool:
    """Whether it is a worker of `weft crawl --workers`: forked, or started as a program."""
    place = Path(f"/proc/{pid}")
    try:
        is_forked = (place / "comm").read_text().strip() == FORKED
        return is_forked or b"weft.cli.worker" in (place / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False

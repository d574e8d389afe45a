"""Running the `weft` command in processes of their own."""

import signal
import subprocess
import sys
from pathlib import Path

import nursery

Process = subprocess.Popen[str]

WEFT = str(Path(sys.executable).with_name("weft"))


class Weft:
    """Runs `weft` in a directory, as a user would."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, *arguments: str, timeout: float = 100) -> "subprocess.CompletedProcess[str]":
        return nursery.run([WEFT, *arguments], cwd=self.directory, timeout=timeout)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return nursery.Popen(
            [WEFT, *arguments],
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

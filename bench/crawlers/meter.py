"""Measures the cost of a process tree: `python meter.py REPORT COMMANDS`.

COMMANDS is a JSON file: programs that run at the same time; the output of each goes to a file next
to it. The meter is its own process, so that all its children belong to one contestant. On Linux it
adopts orphaned processes, so no CPU time is missed, however the processes of a contestant end. It
ends when the last of them has, and kills them if it is told to stop.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import psutil

_PR_SET_CHILD_SUBREAPER = 36
#: Kilobytes on Linux, bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Reading(NamedTuple):
    """What was measured, and how the programs ended."""

    cpu_s: float
    wall_s: float
    #: The peak of a single process.
    peak_bytes: int
    codes: list[int]


def read(report: Path) -> Reading | None:
    """Read the report of a meter; None if it was stopped."""
    return Reading(**json.loads(report.read_text())) if report.exists() else None


def main() -> None:
    report, commands = map(Path, sys.argv[1:])
    signal.signal(signal.SIGTERM, _stop)
    _adopt_orphans()
    started_s = time.monotonic()
    reading = _measure(json.loads(commands.read_text()), commands.parent, started_s)
    report.write_text(json.dumps(reading._asdict()))


def _measure(commands: Sequence[Sequence[str]], directory: Path, started_s: float) -> Reading:
    processes = [
        _start(command, directory, number) for number, command in enumerate(commands, start=1)
    ]
    codes = [process.wait() for process in processes]
    _wait_for_adopted()
    import resource  # not every system has it, and only this function needs it

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Reading(
        cpu_s=used.ru_utime + used.ru_stime,
        wall_s=time.monotonic() - started_s,
        peak_bytes=used.ru_maxrss * _RSS_UNIT,
        codes=codes,
    )


def log_of(directory: Path, number: int) -> Path:
    """The output of the program with that number, starting at 1."""
    return directory / f"program-{number}.log"


def _start(command: Sequence[str], directory: Path, number: int) -> subprocess.Popen[bytes]:
    with log_of(directory, number).open("wb") as log:
        return subprocess.Popen(
            command, cwd=directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_adopted() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _stop(number: int, frame: FrameType | None) -> None:
    """Kill until none is left: a process may have started another meanwhile."""
    while children := psutil.Process().children(recursive=True):
        for child in children:
            try:
                child.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(children, timeout=1)
    os._exit(128 + number)


if __name__ == "__main__":
    main()

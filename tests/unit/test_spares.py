"""Spare workers are forked in a process of their own: this one has threads and tests."""

import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("processes are forked on Linux only", allow_module_level=True)

PROGRAM = """
import asyncio, os, signal, sys, threading
from pathlib import Path
from weft.node.spares import Spares, can_fork

def work():
    given = sys.stdin.read()
    print("to stderr", file=sys.stderr)
    name = Path("/proc/self/comm").read_text().strip()
    print(given, name, os.getsid(0) == os.getpid(), flush=True)
    if given == "wait":
        signal.pause()
    sys.exit(3)

async def use(spares):
"""


def run(body: str, spares: int = 1) -> str:
    """What a program says that makes spares and then does this with them."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    main = f"with Spares({spares}, work) as spares:\n    asyncio.run(use(spares))\n"
    command = [sys.executable, "-W", "error", "-c", PROGRAM + lines + main]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_spare_is_a_process_with_streams_and_an_exit_code() -> None:
    told = run(
        """
process = await spares.start(b"work", 100)
print(await process.stdout.read(), await process.stderr.read(), await process.wait())
process.send_signal(signal.SIGTERM)  # it has ended
"""
    )
    assert told == "b'work weft-worker True\\n' b'to stderr\\n' 3\n"


def test_there_are_as_many_as_were_made() -> None:
    told = run(
        """
*processes, none = [await spares.start(b"work", 100) for _ in range(3)]
for process in processes:
    print(await process.stdout.read(), await process.stderr.read(), await process.wait())
print(none)
""",
        spares=2,
    )
    assert told.splitlines() == [*["b'work weft-worker True\\n' b'to stderr\\n' 3"] * 2, "None"]


def test_a_spare_can_be_killed() -> None:
    told = run(
        """
process = await spares.start(b"wait", 100)
await process.stdout.readline()
process.send_signal(signal.SIGKILL)
print(await process.stdout.read(), await process.stderr.read(), await process.wait())
"""
    )
    assert told == "b'' b'to stderr\\n' -9\n"


def test_those_that_are_not_needed_end() -> None:
    told = run("print(*(pid for pid, _ in spares._waiting))", spares=2)
    assert len(told.split()) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in told.split())


def test_with_threads_none_is_forked() -> None:
    told = run(
        """
print(can_fork())
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
print(can_fork())
stop.set()
"""
    )
    assert told == "True\nFalse\n"

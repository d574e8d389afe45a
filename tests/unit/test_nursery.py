"""A process from the nursery is like any other."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nursery
from running import WEFT
from weft.testing.waiting import wait_until

TELL = """
import json, os, signal, sys, time
told = dict(argv=sys.argv[1:], name=__name__, cwd=os.getcwd(), parent=os.getppid())
told |= dict(path=sys.path[0], x=os.environ.get("X"), zone=time.tzname, group=os.getpgid(0))
told |= dict(stdin=sys.stdin.read(), tty=sys.stdout.isatty(), lines=sys.stdout.line_buffering)
told |= dict(files=sorted(os.listdir("/proc/self/fd")), interrupt=str(signal.getsignal(2)))
print(json.dumps(told, sort_keys=True))
print("oh", file=sys.stderr)
"""


def outcome(command: list[str], directory: Path, environment: dict[str, str]) -> tuple[int, str]:
    pipe = subprocess.PIPE
    process = nursery.Popen(
        command, cwd=directory, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    out, err = process.communicate("in", timeout=20)
    # An uncaught exception has some more lines there.
    return process.returncode, out + "\n".join(err.splitlines()[-1:])


CALLS = {
    "script": [sys.executable, "../program.py", "a", "-b"],
    "module": [sys.executable, "-m", "program", "a", "-b"],
    "code": [sys.executable, "-c", TELL, "a", "-b"],
    "isolated": [sys.executable, "-I", "-c", TELL, "a"],
    "weft": [WEFT, "crawl", "no-such-spider"],
}
ENDS = ["sys.exit(3)", "sys.exit('why')", "1 / 0", "os.kill(os.getpid(), 9)", "os._exit(5)"]


@pytest.mark.parametrize(
    "command",
    [*CALLS.values(), *([sys.executable, "-c", f"import os, sys; {end}"] for end in ENDS)],
    ids=[*CALLS, *ENDS],
)
def test_it_does_what_a_fresh_one_does(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    for program in (tmp_path / "program.py", directory / "program.py"):
        program.write_text(TELL)
    environment = {**os.environ, "X": "ü", "TZ": "XXX-2:30"}
    quick = outcome(command, directory, environment)
    monkeypatch.setattr(nursery, "IS_THERE", False)
    assert quick == outcome(command, directory, environment)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().split()[2]


def test_it_is_ours_to_stop_to_continue_and_to_kill() -> None:
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(100)"]
    with nursery.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T", "it has stopped")
        process.send_signal(signal.SIGCONT)
        wait_until(lambda: state_of(process.pid) == "S", "it goes on")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == -signal.SIGINT


def test_orphans_of_others_are_not_adopted() -> None:
    code = "import os, time; os.fork() and os._exit(0); time.sleep(0.1); print(os.getppid())"
    assert int(nursery.run([sys.executable, "-c", code]).stdout) != os.getpid()

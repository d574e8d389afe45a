"""Python processes that need not import Scrapy and Weft first: forked from one that has.

`Popen` and `run` are those of `subprocess`, for text. A command that begins with this interpreter,
or with a script of it like `weft`, is ready in a tenth of the time this way, and does the same: it
has its own arguments, directory, environment and streams, and is a child of ours. All others are
started as ever; so are all with WEFT_TEST_NURSERY=0, and where there is no Linux.

Run as a program, this file is the nursery. It has one thread, opens nothing, and ends with us.
"""

import array
import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

SCRIPTS = Path(sys.executable).parent
IS_THERE = sys.platform == "linux" and os.environ.get("WEFT_TEST_NURSERY") != "0"

_PR_SET_CHILD_SUBREAPER = 36
_MAX_ORDER_BYTES = 1_000_000

#: What crawls import sooner or later.
_MODULES = (
    "psutil",
    "weft.testing.sink_contract",
    "weft.testing.site.process",
    "scrapy.cmdline",
    "scrapy.commands.crawl",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.extensions.feedexport",
    "scrapy.pipelines.files",
    "scrapy.utils.test",
    "typer._adapters",
)
_PACKAGES = ("weft.cli", "weft.engine", "weft.frontier", "weft.services")


class Popen(subprocess.Popen[str]):
    """As `subprocess.Popen`, quicker for Python programs."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, **options)

    # The one place at which a process is started; all else is left to the original.
    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        _, _, _, _, cwd, env, _, _, _, p2cread, p2cwrite, c2pread, c2pwrite, *others = rest
        errread, errwrite, *_ = others
        environment = dict(os.environ if env is None else env)
        target = _target(args, environment)
        if target is None:
            super()._execute_child(args, *rest)  # type: ignore[misc] # it is private
            return
        order = {"target": target, "cwd": str(cwd or Path.cwd()), "environment": environment}
        files = [
            fd if fd != -1 else number for number, fd in enumerate((p2cread, c2pwrite, errwrite))
        ]
        self.pid = _nursery().bear(order, files)
        self._child_created = True
        ours = (p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        self._close_pipe_fds(*ours)  # type: ignore[attr-defined] # it is private


def run(
    command: Sequence[str], *, timeout: float | None = None, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """As `subprocess.run` with `capture_output` and `text`."""
    pipe = subprocess.PIPE
    with Popen(command, stdout=pipe, stderr=pipe, text=True, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _target(command: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """What the nursery is to run, if it can: a script, or `-m` or `-c`, with arguments."""
    if not IS_THERE or _of_python(environment) != _of_python(os.environ):
        return None
    program, *arguments = map(str, command)
    if program == sys.executable:
        known = arguments and (arguments[0] in ("-m", "-c") or not arguments[0].startswith("-"))
        return arguments if known else None
    return [program, *arguments] if Path(program).parent == SCRIPTS else None


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


class _Nursery:
    """The process, from the outside."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            # In a directory that stays, and with streams that no test owns.
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
            )
        atexit.register(self.end)

    def bear(self, order: Mapping[str, Any], files: Sequence[int]) -> int:
        """The number of the new process; its parent is ours, and so is its end."""
        # Who loses its parent becomes a child of the nearest ancestor that wants such.
        _adopt(True)
        try:
            packed = json.dumps(order).encode()
            length = len(packed).to_bytes(4, "big")
            self._line.sendmsg([length], [_rights(files)])
            self._line.sendall(packed)
            answer = self._line.recv(4)
        finally:
            _adopt(False)
        if not answer:
            raise RuntimeError("the nursery has died: its last words are above")
        return int.from_bytes(answer, "big")

    def end(self) -> None:
        self._line.close()
        self._process.wait()


_made: dict[int, _Nursery] = {}


def _nursery() -> _Nursery:
    """That of this process."""
    if os.getpid() not in _made:
        _made[os.getpid()] = _Nursery()
    return _made[os.getpid()]


def _adopt(is_wanted: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0)


def _rights(files: Sequence[int]) -> tuple[int, int, Any]:
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files)


# In the nursery


def _receive(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next order and its streams; ends the process if there is none."""
    length, ancillary, _, _ = line.recvmsg(4, socket.CMSG_LEN(3 * 4))
    if not length:
        sys.exit()
    files = array.array("i")
    [(_, _, raw)] = ancillary
    files.frombytes(raw)
    packed = b""
    while len(packed) < int.from_bytes(length, "big"):
        packed += line.recv(_MAX_ORDER_BYTES)
    return json.loads(packed), list(files)


def _serve(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Forks a process for each order; returns in those, with the order."""
    while True:
        order, files = _receive(line)
        reader, writer = os.pipe()
        # Twice: when the one between has ended, the process is a child of who gave the order.
        if not (between := os.fork()):
            between = os.getpid()
            if not (child := os.fork()):
                for each in (reader, writer):
                    os.close(each)
                line.close()
                while os.getppid() == between:
                    time.sleep(0.0002)
                return order, files
            os.write(writer, child.to_bytes(4, "big"))
            os._exit(0)
        number = os.read(reader, 4)
        os.waitpid(between, 0)
        for each in (reader, writer, *files):
            os.close(each)
        line.sendall(number)


def _settle(order: Mapping[str, Any], files: Sequence[int]) -> None:
    """What the interpreter would have found when it was started. Its streams go by number."""
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()


def _run(how: str, *arguments: str) -> None:
    if how == "-m":
        sys.argv, sys.path[:0] = list(arguments), [str(Path.cwd())]
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv, sys.path[:0] = ["-c", *arguments[1:]], [""]
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv, sys.path[:0] = [how, *arguments], [str(Path(how).resolve().parent)]
        runpy.run_path(how, run_name="__main__")


def _end(code: int) -> NoReturn:
    """What an interpreter does at its end, but for taking apart all that it has: memory that it
    shares with the nursery would be copied for that. In `make faults` nothing is left out."""
    if os.environ.get("WEFT_TEST_EFFORT") == "full":
        sys.exit(code)
    threading._shutdown()  # type: ignore[attr-defined] # it is private
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


def _scrapy_parts() -> set[str]:
    """The modules of all parts that Scrapy has by default."""
    from scrapy.settings import default_settings as defaults

    parts = (
        *defaults.DOWNLOADER_MIDDLEWARES_BASE,
        *defaults.SPIDER_MIDDLEWARES_BASE,
        *defaults.EXTENSIONS_BASE,
        *(defaults.LOG_FORMATTER, defaults.ROBOTSTXT_PARSER, defaults.STATS_CLASS),
    )
    return {part.rpartition(".")[0] for part in parts}


def _modules_in_packages() -> Iterator[str]:
    for name in _PACKAGES:
        package = importlib.import_module(name)
        yield from (each.name for each in pkgutil.walk_packages(package.__path__, f"{name}."))


def _import_all() -> None:
    for name in (*_MODULES, *_scrapy_parts(), *_modules_in_packages()):
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork would lose the other threads"
    assert "twisted.internet.reactor" not in sys.modules, "each process chooses its own"
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    line = socket.socket(fileno=int(sys.argv[1]))
    _import_all()
    order, files = _serve(line)
    _settle(order, files)
    try:
        _run(*order["target"])
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        _end(end.code or 0)
    _end(0)

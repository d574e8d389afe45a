"""What the real servers for tests have in common: a process, a free port, a directory."""

import random
import signal
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from weft.errors import WeftError
from weft.redis.server import log_end, start_child
from weft.testing.waiting import wait_until

HOST = "127.0.0.1"
#: Below the ports that the kernel gives to connections: a connection must not take the port of a
#: server while it is down. A Redis cluster node has a second port at the offset below.
PORTS = range(11_000, 21_000)
BUS_PORT_OFFSET = 10_000
PORT_ATTEMPTS = 100

WAIT_S = 30.0


class Server(ABC):
    """Runs while the context is open, on a free port of loopback, with a temporary directory; can
    be killed and restarted with both. It dies with the process that started it."""

    def __init__(self) -> None:
        self._directory = Path()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._find_program()
        self._port = free_port()
        with ExitStack() as stack:
            directory = tempfile.TemporaryDirectory(prefix="weft-test-", ignore_cleanup_errors=True)
            self._directory = Path(stack.enter_context(directory))
            self._prepare(stack)
            stack.callback(self._end)
            self.start()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def port(self) -> int:
        if not self._port:
            raise WeftError("the server has no port before it is started: use `with`")
        return self._port

    @property
    def host(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        return self._running.pid

    def start(self) -> None:
        """Start it, for the first time or after `kill`. Return when it is ready."""
        if self._process:
            raise WeftError("the server is running already: kill it first")
        log = self._directory / "server.log"
        command = self._command()
        # SIGKILL also ends stopped processes.
        process = start_child(command, log, death_signal=signal.SIGKILL)
        self._process = process
        wait_until(lambda: process.poll() is not None or self._is_ready(), "the server answers")
        if process.poll() is not None:
            self.kill()
            raise WeftError(f"{command[0]} did not start: {log_end(log)}")

    def kill(self) -> None:
        """SIGKILL. What it has confirmed is kept."""
        self._send_last(signal.SIGKILL)

    def stop(self) -> None:
        """SIGSTOP: it keeps its connections, but is silent."""
        self._running.send_signal(signal.SIGSTOP)

    def cont(self) -> None:
        """SIGCONT: it continues as if nothing had happened."""
        self._running.send_signal(signal.SIGCONT)

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise WeftError("the server is not running")
        return self._process

    def _send_last(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process:
            process.send_signal(number)
            process.wait(WAIT_S)

    def _end(self) -> None:
        """Called at the end of the context."""
        self.kill()

    @abstractmethod
    def _find_program(self) -> None:
        """Raises ConfigError if there is none."""

    def _prepare(self, stack: ExitStack) -> None:  # noqa: B027 - most need nothing
        """Called before its first start; `stack` is closed after its end."""

    @abstractmethod
    def _command(self) -> list[str]: ...

    @abstractmethod
    def _is_ready(self) -> bool:
        """Also checks that no other process was faster to take the port."""


def free_port() -> int:
    # Not the shared generator: seeding that would give the same ports in every process.
    rng = random.SystemRandom()
    for _ in range(PORT_ATTEMPTS):
        port = rng.choice(PORTS)
        if _is_free(port) and _is_free(port + BUS_PORT_OFFSET):
            return port
    raise WeftError(f"found no free port from {PORTS.start} to {PORTS.stop}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Redis does: a port with closing connections is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True

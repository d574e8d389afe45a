"""What the real database servers for tests have in common.

Each is a process on a free port of loopback with a temporary directory, and dies with the process
that started it. Statements of tests go through the client program that comes with the server.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self
from urllib.parse import quote

from weft.errors import WeftError
from weft.redis.server import log_end, start_child
from weft.testing.places import HOST, WAIT_S, free_port, wait_until


class SqlServer(ABC):
    """Runs while the context is open; can die and come back with its port and its data."""

    #: The scheme of its addresses.
    scheme: str
    #: Who may do everything there. The password has what must be escaped in an address.
    ROOT: str
    ROOT_PASSWORD = "p@ss/word?#%"

    def __init__(self, *, is_durable: bool = False) -> None:
        """With `is_durable` what it has confirmed survives the death of the machine too, as where
        it is installed; otherwise that of the process only, which is quicker."""
        self._is_durable = is_durable
        self._directory = Path()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._find_programs()
        self._port = free_port()
        with ExitStack() as stack:
            directory = tempfile.TemporaryDirectory(prefix="weft-sql-", ignore_cleanup_errors=True)
            self._directory = Path(stack.enter_context(directory))
            self._make_data()
            stack.callback(self._end)
            self.start()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def host(self) -> str:
        return f"{HOST}:{self._port}"

    def address(self, database: str, table: str, user: str = "", password: str = "") -> str:
        """Of a table, as `-o` takes it; without a user, for the one who may do everything."""
        name, secret = (user, password) if user else (self.ROOT, self.ROOT_PASSWORD)
        credentials = f"{quote(name, safe='')}:{quote(secret, safe='')}"
        return f"{self.scheme}://{credentials}@{self.host}/{quote(database)}/{quote(table)}"

    def start(self) -> None:
        """For the first time or after `kill`."""
        if self._process:
            raise WeftError("the server is running already: kill it first")
        wait_until(self._starts, "the server has started")

    def kill(self) -> None:
        """SIGKILL. What it has confirmed stays."""
        self._end(signal.SIGKILL)

    def ask(self, statement: str, database: str = "") -> list[list[str]]:
        """The rows that a statement of the one who may do everything gives, as text."""
        answer = self._client(statement, database)
        if answer.returncode:
            raise WeftError(f"the server refused {statement}: {answer.stderr}")
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def _starts(self) -> bool:
        """Whether it has started; False if it should be tried again."""
        log = self._directory / "server.log"
        process = start_child(self._command(), log, death_signal=signal.SIGKILL)
        self._process = process
        wait_until(lambda: process.poll() is not None or self._is_ready(), "the server answers")
        if process.poll() is None:
            return True
        self._process = None
        if self._may_start_later(end := log_end(log)):
            return False
        raise WeftError(f"the server did not start: {end}")

    def _end(self, how: signal.Signals = signal.SIGQUIT) -> None:
        process, self._process = self._process, None
        if process:
            process.send_signal(how)
            process.wait(WAIT_S)

    def _is_ready(self) -> bool:
        """Another process may have been quicker to take the port; so we ask for its directory."""
        answer = self._client(self._directory_question, "")
        return answer.returncode == 0 and answer.stdout.strip().rstrip("/") == str(self._data)

    def _run_client(
        self, command: list[str], statement: str, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            input=statement,
            env={**environment, "PATH": os.environ["PATH"]},
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT_S,
            check=False,
        )

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    #: A statement whose answer is the directory of the data.
    _directory_question: str

    def _may_start_later(self, log_end: str) -> bool:
        return False

    @abstractmethod
    def _find_programs(self) -> None:
        """Raises ConfigError if there is none."""

    @abstractmethod
    def _make_data(self) -> None: ...

    @abstractmethod
    def _command(self) -> list[str]: ...

    @abstractmethod
    def _client(self, statement: str, database: str) -> subprocess.CompletedProcess[str]: ...


def run_quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    if done.returncode:
        raise WeftError(f"{command[0]} failed: {done.stderr or done.stdout}")


def program(name: str) -> str | None:
    """Programs of servers are not in everybody's path."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")

"""What the real database servers for tests have in common.

Each is a process on a free port of loopback with a temporary directory, and dies with the process
that started it. Tests send statements through the client program that comes with the server.
"""

import os
import shutil
import signal
import subprocess
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

from launchers.server import WAIT_S, Server
from weft.errors import WeftError


class SqlServer(Server):
    #: The scheme of its addresses.
    scheme: str
    #: May do everything. The password contains characters that must be escaped in an address.
    ROOT: str
    ROOT_PASSWORD = "p@ss/word?#%"

    def __init__(self, *, is_durable: bool = False) -> None:
        """With `is_durable`, confirmed writes also survive a crash of the machine, as in a normal
        installation; otherwise only that of the process, which is faster."""
        super().__init__()
        self._is_durable = is_durable

    def _prepare(self, stack: ExitStack) -> None:
        self._make_data()

    def address(self, database: str, table: str, user: str = "", password: str = "") -> str:
        """The address of a table, as `-o` takes it; without `user`, for the root user."""
        name, secret = (user, password) if user else (self.ROOT, self.ROOT_PASSWORD)
        credentials = f"{quote(name, safe='')}:{quote(secret, safe='')}"
        return f"{self.scheme}://{credentials}@{self.host}/{quote(database)}/{quote(table)}"

    def ask(self, statement: str, database: str = "") -> list[list[str]]:
        """Execute a statement as the root user; return its rows as text."""
        answer = self._client(statement, database)
        if answer.returncode:
            raise WeftError(f"the server refused {statement}: {answer.stderr}")
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def _end(self) -> None:
        self._send_last(signal.SIGQUIT)

    def _is_ready(self) -> bool:
        """Another process may have been faster to take the port, so we ask for its directory."""
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

    #: A query that returns the data directory.
    _directory_question: str

    @abstractmethod
    def _make_data(self) -> None: ...

    @abstractmethod
    def _client(self, statement: str, database: str) -> subprocess.CompletedProcess[str]: ...


def run_quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    if done.returncode:
        raise WeftError(f"{command[0]} failed: {done.stderr or done.stdout}")


def program(name: str) -> str | None:
    """Server programs are not in every user's PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")

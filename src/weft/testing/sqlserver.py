"""What the real database servers for tests have in common.

Each is a process on a free port of loopback with a temporary directory, and dies with the process
that started it. Statements of tests go through the client program that comes with the server.
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

from weft.errors import WeftError
from weft.testing.server import WAIT_S, Server


class SqlServer(Server):
    #: The scheme of its addresses.
    scheme: str
    #: Who may do everything there. The password has what must be escaped in an address.
    ROOT: str
    ROOT_PASSWORD = "p@ss/word?#%"

    def __init__(self, *, is_durable: bool = False) -> None:
        """With `is_durable` what it has confirmed survives the death of the machine too, as where
        it is installed; otherwise that of the process only, which is quicker."""
        super().__init__()
        self._is_durable = is_durable

    def _prepare(self, stack: ExitStack) -> None:
        self._make_data()

    def address(self, database: str, table: str, user: str = "", password: str = "") -> str:
        """Of a table, as `-o` takes it; without a user, for the one who may do everything."""
        name, secret = (user, password) if user else (self.ROOT, self.ROOT_PASSWORD)
        credentials = f"{quote(name, safe='')}:{quote(secret, safe='')}"
        return f"{self.scheme}://{credentials}@{self.host}/{quote(database)}/{quote(table)}"

    def ask(self, statement: str, database: str = "") -> list[list[str]]:
        """The rows that a statement of the one who may do everything gives, as text."""
        answer = self._client(statement, database)
        if answer.returncode:
            raise WeftError(f"the server refused {statement}: {answer.stderr}")
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def _end(self) -> None:
        self._send_last(signal.SIGQUIT)

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

    @abstractmethod
    def _make_data(self) -> None: ...

    @abstractmethod
    def _client(self, statement: str, database: str) -> subprocess.CompletedProcess[str]: ...


def run_quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    if done.returncode:
        raise WeftError(f"{command[0]} failed: {done.stderr or done.stdout}")


def program(name: str) -> str | None:
    """Programs of servers are not in everybody's path."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")

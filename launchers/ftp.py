"""A real FTP server for tests: a process on a free port of loopback with a temporary directory.

It dies with the process that started it, and can be killed and restarted. It needs pyftpdlib.
"""

import importlib.util
import sys
from contextlib import ExitStack
from ftplib import FTP, all_errors
from pathlib import Path
from urllib.parse import quote

from launchers.server import HOST, Server
from weft.errors import ConfigError

#: May do everything. The password contains characters that must be escaped in an address.
USER = "writer"
PASSWORD = "p@ss/word?#"
#: May only read.
READER = "reader"


class FtpServer(Server):
    """Its files are in `files`."""

    def __init__(self) -> None:
        super().__init__()
        self.files = Path()

    def _find_program(self) -> None:
        if importlib.util.find_spec("pyftpdlib") is None:
            raise ConfigError("an FTP server for tests is missing: pip install pyftpdlib")

    def _prepare(self, stack: ExitStack) -> None:
        self.files = self._directory / "files"
        self.files.mkdir()

    def _command(self) -> list[str]:
        return [sys.executable, "-m", __name__, str(self._port), str(self.files)]

    def address(self, path: str, user: str = USER, password: str = PASSWORD) -> str:
        """The address of a file, as `-o` takes it."""
        return f"ftp://{user}:{quote(password, safe='')}@{HOST}:{self._port}/{path}"

    def _is_ready(self) -> bool:
        try:
            with FTP(timeout=5) as ftp:
                ftp.connect(HOST, self._port)
                ftp.login(USER, PASSWORD)
        except all_errors:
            return False
        return True


def serve(port: int, files: str) -> None:
    # Imported here because only the server process needs it.
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.servers import FTPServer

    class Handler(FTPHandler):  # type: ignore[misc] # it has no types
        authorizer = DummyAuthorizer()
        auth_failed_timeout = 0

    Handler.authorizer.add_user(USER, PASSWORD, files, perm="elradfmwMT")
    Handler.authorizer.add_user(READER, PASSWORD, files, perm="elr")
    FTPServer((HOST, port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])

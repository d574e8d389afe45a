"""A real FTP server for tests: a process on a free port of loopback with a temporary directory.

It dies with the process that started it, and can be killed and come back. It needs pyftpdlib.
"""

import importlib.util
import signal
import sys
import tempfile
from contextlib import ExitStack
from ftplib import FTP, all_errors
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from weft.errors import ConfigError, WeftError
from weft.redis.server import log_end, start_child
from weft.testing.places import HOST, free_port, wait_until

if TYPE_CHECKING:
    import subprocess

#: Who may do everything there. The password has what must be escaped in an address.
USER = "writer"
PASSWORD = "p@ss/word?#"
#: Who may look around only.
READER = "reader"


class FtpServer:
    """Runs while the context is open; its files are in `files`."""

    def __init__(self) -> None:
        self.files = Path()
        self._directory = Path()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if importlib.util.find_spec("pyftpdlib") is None:
            raise ConfigError("an FTP server for tests is missing: pip install pyftpdlib")
        self._port = free_port()
        with ExitStack() as stack:
            directory = tempfile.TemporaryDirectory(prefix="weft-ftp-", ignore_cleanup_errors=True)
            self._directory = Path(stack.enter_context(directory))
            self.files = self._directory / "files"
            self.files.mkdir()
            stack.callback(self.kill)
            self.start()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def address(self, path: str, user: str = USER, password: str = PASSWORD) -> str:
        """Of a file, as `-o` takes it."""
        return f"ftp://{user}:{quote(password, safe='')}@{HOST}:{self._port}/{path}"

    def start(self) -> None:
        """Starts it, for the first time or after `kill`."""
        if self._process:
            raise WeftError("the server is running already: kill it first")
        log = self._directory / "server.log"
        command = [sys.executable, "-m", __name__, str(self._port), str(self.files)]
        process = start_child(command, log, death_signal=signal.SIGKILL)
        self._process = process
        wait_until(lambda: process.poll() is not None or self._is_ready(), "the server answers")
        if process.poll() is not None:
            self.kill()
            raise WeftError(f"the FTP server did not start: {log_end(log)}")

    def kill(self) -> None:
        """SIGKILL. Its files stay."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()

    def _is_ready(self) -> bool:
        try:
            with FTP(timeout=5) as ftp:
                ftp.connect(HOST, self._port)
                ftp.login(USER, PASSWORD)
        except all_errors:
            return False
        return True


def serve(port: int, files: str) -> None:
    # Here, for only the process that is the server needs it.
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

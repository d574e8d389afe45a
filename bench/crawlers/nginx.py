"""nginx as the server of a site: one process on every address of this machine.

It counts the requests that it has answered. That shows the progress of a contestant from outside,
in the same way for all.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from weft.errors import ConfigError, WeftError
from weft.redis.server import log_end, start_child

HOST = "127.0.0.1"
STATUS_PATH = "/-/status"
WAIT_S = 20.0
POLL_S = 0.01
#: nginx reserves memory for each.
MAX_FILES = 16_384
#: Where Debian has it; not in every user's PATH.
_MORE_PATHS = "/usr/sbin:/usr/local/sbin"

_CONFIGURATION = """
daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile {files};
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    types {{ text/html html; }}
    charset utf-8;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen 0.0.0.0:{port} backlog=4096;
        # On every address, so that hosts need no names; but for this machine only.
        allow 127.0.0.0/8;
        deny all;
        root "{root}/$host";
        location = {status} {{ stub_status; }}
    }}
}}
"""


def find_nginx() -> Path:
    """Return the program; raise with how to install it."""
    places = f"{os.environ.get('PATH', os.defpath)}:{_MORE_PATHS}"
    found = shutil.which("nginx", path=places)
    if found is None:
        raise ConfigError(
            "the benchmark needs nginx as the server of its pages, and there is none: install it "
            "(on Debian: apt-get install nginx-light), then run the same command again"
        )
    return Path(found)


class Nginx:
    """Serves `root/HOST/PATH` at `port` of every address of this machine while it is open."""

    def __init__(self, root: Path, port: int) -> None:
        self._root = root
        self.port = port
        self._open = ExitStack()
        self._asked = 0

    def __enter__(self) -> Self:
        program = find_nginx()
        with ExitStack() as stack:
            made = tempfile.TemporaryDirectory(prefix="weft-nginx-", ignore_cleanup_errors=True)
            directory = Path(stack.enter_context(made))
            process = start_child(
                _command(program, directory, self._root, self.port),
                directory / "nginx.log",
                death_signal=signal.SIGKILL,
            )
            stack.callback(_end, process)
            self._connection = HTTPConnection(HOST, self.port, timeout=WAIT_S)
            stack.callback(self._connection.close)
            self._wait(process, directory / "nginx.log")
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def served(self) -> int:
        """How many requests it has received, without our own."""
        self._asked += 1
        told = self._status()
        found = re.search(r"^\s*\d+\s+\d+\s+(\d+)\s*$", told, re.MULTILINE)
        if found is None:
            raise WeftError(f"port {self.port} is not that of our nginx: it answers {told[:80]!r}")
        return int(found[1]) - self._asked

    def _status(self) -> str:
        self._connection.request("GET", STATUS_PATH)
        return self._connection.getresponse().read().decode(errors="replace")

    def _wait(self, process: subprocess.Popen[bytes], log: Path) -> None:
        until_s = time.monotonic() + WAIT_S
        while not self._answers():
            if process.poll() is not None or time.monotonic() > until_s:
                raise WeftError(f"nginx did not start: {log_end(log) or 'it said nothing'}")
            time.sleep(POLL_S)

    def _answers(self) -> bool:
        try:
            self._asked = 0
            return self.served() == 0
        except (OSError, HTTPException):
            self._connection.close()
            return False


def _command(program: Path, directory: Path, root: Path, port: int) -> list[str]:
    file = directory / "nginx.conf"
    files = min(MAX_FILES, os.sysconf("SC_OPEN_MAX"))
    text = _CONFIGURATION.format(
        directory=directory,
        files=files,
        connections=files // 2,
        port=port,
        root=root,
        status=STATUS_PATH,
    )
    file.write_text(text)
    return [str(program), "-p", str(directory), "-e", "stderr", "-c", str(file)]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()

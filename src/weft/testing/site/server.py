"""The side of the tests: starts the serving process, requests its log, stops it."""

import http.client
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from weft.errors import ConfigError, WeftError
from weft.testing.site.hits import Hit, read_hits
from weft.testing.site.options import Site
from weft.testing.site.process import FLUSH_PATH, FORGET_PATH, LOG_NAME
from weft.testing.site.themes import pages_of

#: How long the process may take to end by itself before it is killed.
STOP_S = 2.0
CONTROL_TIMEOUT_S = 30.0


class ServerProcess:
    """A web server in a new process, while the context is open.

    It listens on all of its hosts, on the same port. It ends with this process, even if this one
    gets SIGKILL, and removes its files.
    """

    #: The function that starts it.
    popen: ClassVar[Callable[..., subprocess.Popen[str]]] = subprocess.Popen

    def __init__(self, module: str, options: str, hosts: tuple[str, ...], port: int = 0) -> None:
        """`module` is run with `--child PID OPTIONS`, see `run_as_child`."""
        self._module = module
        self._options = options
        self._hosts = hosts
        self._wanted_port = port
        self._port = 0
        self._directory = Path()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = self._start()
        assert self._process.stdout
        line = self._process.stdout.readline()
        ready: dict[str, Any] = (
            json.loads(line) if line else {"problem": "it died; see its standard error"}
        )
        if "problem" in ready:
            self._stop()
            raise WeftError(f"the site server did not start: {ready['problem']}")
        self._port = ready["port"]
        self._directory = Path(ready["directory"])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        # The process has removed them itself, unless it was killed.
        shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def port(self) -> int:
        if not self._port:
            raise WeftError("the site server has no port before it is started: use `with`")
        return self._port

    @property
    def url(self) -> str:
        """The first page of the first host."""
        return self.url_of(self._hosts[0])

    @property
    def pid(self) -> int:
        if self._process is None:
            raise WeftError("the site server is not running: use `with`")
        return self._process.pid

    def url_of(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def hits(self) -> list[Hit]:
        """Every request so far, in order of arrival."""
        self._control(FLUSH_PATH)
        return read_hits(self._directory / LOG_NAME)

    def forget(self) -> None:
        """Clear the log; what happens once per page happens again."""
        self._control(FORGET_PATH)

    def _control(self, path: str) -> None:
        connection = http.client.HTTPConnection(
            self._hosts[0], self.port, timeout=CONTROL_TIMEOUT_S
        )
        try:
            connection.request("GET", path)
            connection.getresponse().read()
        finally:
            connection.close()

    def _start(self) -> subprocess.Popen[str]:
        module = [sys.executable, "-m", self._module]
        child = ["--child", str(os.getpid()), self._options]
        return self.popen(
            [*module, "--port", str(self._wanted_port), *child],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
        # Closes the pipes and waits.
        with process:
            pass


class SiteServer(ServerProcess):
    """A `Site`, served while the context is open."""

    def __init__(self, site: Site | None = None, *, port: int = 0) -> None:
        self.site = site or Site()
        super().__init__("weft.testing.site", self.site.to_json(), self.site.hosts, port)

    def page_urls(self, host: str | None = None) -> set[str]:
        """The canonical URLs of all pages, of one host or of all."""
        hosts = self.site.hosts if host is None else (host,)
        paths = list(pages_of(self.site, self.port).paths())
        return {self.url_of(each, path) for each in hosts for path in paths}

    def hits(self) -> list[Hit]:
        if not self.site.log:
            raise ConfigError("this site keeps no log: serve it with Site(log=True)")
        return super().hits()

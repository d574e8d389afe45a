"""Masters, as tests start, ask and end them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import redis
from redis.driver_info import DriverInfo

from launchers.redis import RedisServer
from running import Weft

PREFIX = "/api/v1"


class MasterProcess:
    """`weft master`, from the outside."""

    def __init__(self, weft: Weft, url: str, bind: str) -> None:
        self.process = weft.start("master", "--store", url, "--bind", bind)
        self._lines: list[str] = []
        self.address = self._wait_for_address()

    def _wait_for_address(self) -> str:
        assert self.process.stderr is not None
        while line := self.process.stderr.readline():
            self._lines.append(line)
            if found := re.search(r" at (http://\S+)$", line):
                return found[1]
        raise AssertionError(f"no master is there: {self._lines}")

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> tuple[int, str, str]:
        """Its exit code, what it printed, and what it said, when it has ended."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, "".join(self._lines) + err


@contextmanager
def master(weft: Weft, url: str, bind: str = "127.0.0.1:0") -> Iterator[MasterProcess]:
    """One that answers, and does not outlive a test that fails."""
    running = MasterProcess(weft, url, bind)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()


def new_token(weft: Weft, url: str, name: str, scope: str) -> str:
    """The text of a token that a user creates."""
    made = weft("token", "create", name, "--scope", scope, "--store", url)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


class Asker:
    """Sends requests to a master, with a token or without."""

    def __init__(self, address: str, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=address + PREFIX, headers=headers, timeout=60)

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._client.request(method, path, **options)

    def get(self, path: str, **parameters: Any) -> Any:
        """What a GET is answered with."""
        answer = self("GET", path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def pages(self, path: str, **parameters: Any) -> list[list[Any]]:
        """All pages of a list."""
        page = self.get(path, **parameters)
        found = [page["items"]]
        while page["next"] is not None:
            page = self.get(path, cursor=page["next"], **parameters)
            found.append(page["items"])
        return found

    def status(self, method: str, path: str, **options: Any) -> int:
        return self(method, path, **options).status_code

    def close(self) -> None:
        self._client.close()


@contextmanager
def asking(address: str, token: str = "") -> Iterator[Asker]:
    asker = Asker(address, token)
    try:
        yield asker
    finally:
        asker.close()


#: How a key is read, by its type.
_READING: dict[str, tuple[str | int, ...]] = {
    "string": ("GET",),
    "hash": ("HGETALL",),
    "list": ("LRANGE", 0, -1),
    "set": ("SMEMBERS",),
    "zset": ("ZRANGE", 0, -1, "WITHSCORES"),
}


def contents(server: RedisServer) -> dict[str, str]:
    """All that a store has, by key."""
    with redis.Redis("127.0.0.1", server.port, driver_info=DriverInfo()) as client:
        found = {}
        for key in client.scan_iter(count=1000):
            verb, *rest = _READING[client.type(key).decode()]
            found[key.decode()] = repr(client.execute_command(verb, key, *rest))
        return found


def check_problem(answer: httpx.Response, status: int) -> Any:
    """That it is a problem with this status; what it says."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    return told

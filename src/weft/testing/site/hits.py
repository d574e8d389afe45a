"""The log of requests: one line per request, written by the server, read by `SiteServer.hits()`."""

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Hit:
    """One request that reached the site.

    `at_s` is `time.monotonic()` of the server when the request had arrived: all processes of a
    machine share that clock. `path` includes the query. `status` is 0 if no HTTP was sent back.
    `client` is the address of the client. `held_up_s`: the request may have arrived this much
    earlier, because the server did not run for a while.
    """

    at_s: float
    host: str
    method: str
    path: str
    status: int
    client: str = "127.0.0.1"
    held_up_s: float = field(default=0.0, compare=False)


class HitLog:
    """The server's side: buffered, so that logging costs next to nothing."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=256 * 1024)

    def add(self, hit: Hit) -> None:
        when = f"{hit.at_s:.6f} {hit.held_up_s:.3f}"
        line = f"{when} {hit.host} {hit.client} {hit.method} {hit.status} {hit.path}\n"
        self._file.write(line.encode("latin-1"))

    def flush(self) -> None:
        self._file.flush()

    def clear(self) -> None:
        self._file.flush()
        # The file is open for appending: the next line goes to its new end.
        os.ftruncate(self._file.fileno(), 0)

    def close(self) -> None:
        self._file.close()


def read_hits(path: Path) -> list[Hit]:
    lines = path.read_bytes().decode("latin-1").split("\n")
    return [_hit(line) for line in lines if line]


def _hit(line: str) -> Hit:
    at_s, held_up_s, host, client, method, status, path = line.split(" ", 6)
    return Hit(float(at_s), host, method, path, int(status), client, float(held_up_s))

"""How much memory of Redis each thing takes.

Memory is what Redis reports to have allocated for itself and its data (`used_memory`), without the
buffers of its clients. It is measured as a difference: the size of a queue is what
deleting its keys frees, and what deleting all other keys then frees is the size of the known URLs.
So every byte of the data is counted in one of the two, including key names, tables and host
records; the rest does not grow with the data (scripts, command statistics).
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from bench.contestant import BenchError, Contestant
from bench.on_weft import OnWeft
from bench.workload import Page
from launchers.redis import RedisServer

#: Pages that are made and added at a time.
_PAGES = 200
#: Redis resizes its tables ten times a second.
LOOKS = 3
LOOK_S = 0.11


class Sizes(NamedTuple):
    """Bytes per request."""

    seen: float
    queued: float


def used_bytes(server: RedisServer) -> int:
    """Wait until it stops changing: tables are resized in the background."""
    with server.client() as client:
        client.slowlog_reset()  # it keeps arguments of slow commands
        seen: list[int] = []
        while len(seen) < LOOKS or len(set(seen[-LOOKS:])) > 1:
            memory = client.info("memory")
            seen.append(memory["used_memory"] - memory["mem_clients_normal"])
            time.sleep(LOOK_S)
    return seen[-1]


def delete(server: RedisServer, patterns: Sequence[str]) -> None:
    with server.client() as client:
        for pattern in patterns:
            for key in list(client.scan_iter(pattern, count=10_000)):
                client.delete(key)


def fill(contestant: Contestant, pages: Iterable[Page]) -> int:
    """Add all; return the number of links."""
    links = 0
    batch: list[Page] = []
    for page in pages:
        batch.append(page)
        links += len(page.links)
        if len(batch) == _PAGES:
            contestant.add(contestant.find(batch))
            batch = []
    contestant.add(contestant.find(batch))
    return links


def measure_sizes(
    server: RedisServer,
    make: Callable[[], Contestant],
    pages: Iterable[Page],
    lost_share: float = 0.0,
) -> Sizes:
    """The sizes of known and of queued requests; `pages` contain no link twice.

    Up to `lost_share` of them may be mistaken for known ones.
    """
    with make() as contestant:
        links = fill(contestant, pages)
        queued = contestant.queued()
    _expect(queued, links, "queued", lost_share)
    full = used_bytes(server)
    delete(server, contestant.queue_keys)
    drained = used_bytes(server)
    server.ask("FLUSHALL")
    return Sizes((drained - used_bytes(server)) / links, (full - drained) / queued)


def _freed_bytes(server: RedisServer, patterns: Sequence[str]) -> int:
    """What deleting these keys frees; then delete everything."""
    before = used_bytes(server)
    delete(server, patterns)
    freed = before - used_bytes(server)
    server.ask("FLUSHALL")
    return freed


def measure_parked(
    server: RedisServer, make: Callable[[], OnWeft], pages: Iterable[Page], hosts: int
) -> float:
    """Bytes per parked request, in blocks; all but one of each host should be parked."""
    with make() as contestant:
        links = fill(contestant, pages)
        parked = contestant.stats().parked
        _expect(parked, links - hosts, "parked")
    with server.client() as client:
        _expect(len(list(client.scan_iter("weft:*:spill:*", count=10_000))), 0, "unpacked queues")
    return _freed_bytes(server, ("weft:*:blocks:*",)) / parked


def measure_stories(
    server: RedisServer, make: Callable[[], OnWeft], pages: Iterable[Page]
) -> float:
    """Bytes kept per fetched URL for `weft explain`."""
    with make() as contestant:
        links = fill(contestant, pages)
        _expect(len(contestant.take(links)), links, "taken")
    return _freed_bytes(server, ("weft:*:stories:*", "weft:*:history:*")) / links


def _expect(number: int, wanted: int, what: str, lost_share: float = 0.0) -> None:
    if not wanted * (1 - lost_share) <= number <= wanted:
        raise BenchError(f"{number} requests are {what}, and not {wanted}")

"""Looks up host names in threads and caches their addresses, as Scrapy's default resolver does.

Like that one, it asks for IPv4 addresses only; unlike it, it forgets addresses that do not answer.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from scrapy.exceptions import CannotResolveHostError


def look_up_ipv4(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class HostResolver:
    """`cache_size` 0 caches nothing; `threads` is how many lookups may run at a time."""

    def __init__(
        self,
        *,
        cache_size: int,
        timeout_s: float,
        threads: int,
        look_up: Callable[[str], Sequence[str]] = look_up_ipv4,
    ) -> None:
        self._cache_size = cache_size
        self._timeout_s = timeout_s
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="weft-dns")
        self._known: dict[str, Sequence[str]] = {}
        self._lookups: dict[str, asyncio.Task[Sequence[str]]] = {}

    async def addresses(self, host: str) -> Sequence[str]:
        """Returns at least one, or raises CannotResolveHostError."""
        known = self._known.get(host)
        if known is not None:
            return known
        if is_address(host):
            return [host]
        # A caller that stops waiting does not end the lookup for the others.
        return await asyncio.shield(self._lookup(host))

    def _lookup(self, host: str) -> asyncio.Task[Sequence[str]]:
        """Concurrent callers share one lookup."""
        task = self._lookups.get(host)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._ask(host))
            self._lookups[host] = task
            task.add_done_callback(lambda done: self._note(host, done))
        return task

    async def _ask(self, host: str) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout_s):
                return await loop.run_in_executor(self._threads, self._look_up, host)
        except TimeoutError as error:
            problem = f"DNS lookup timed out: {host} after {self._timeout_s:g} seconds."
            raise CannotResolveHostError(problem) from error
        except (OSError, UnicodeError) as error:
            problem = f"DNS lookup failed: no results for hostname lookup: {host}."
            raise CannotResolveHostError(problem) from error

    def _note(self, host: str, task: asyncio.Task[Sequence[str]]) -> None:
        del self._lookups[host]
        # Calling exception() also marks it as retrieved.
        if not task.cancelled() and task.exception() is None and self._cache_size:
            self._known[host] = task.result()
            if len(self._known) > self._cache_size:
                del self._known[next(iter(self._known))]

    def prefer(self, host: str, address: str) -> None:
        """The address has answered: put it first from now on."""
        known = self._known.get(host)
        if known is not None and known[0] != address:
            self._known[host] = [address, *(other for other in known if other != address)]

    def forget(self, host: str) -> None:
        self._known.pop(host, None)

    def close(self) -> None:
        for task in self._lookups.values():
            task.cancel()
        # Do not wait: a lookup may take any amount of time, and nobody needs it any more.
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

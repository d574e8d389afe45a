"""From host names to host keys: what a request shares its queue, its budget and its bucket with.

By name, by registrable domain, or by address, as the job was begun with. A name and its domain are
the same for everyone at any time. An address is not: it is asked for once, when a name is first
met, and kept in the frontier for all workers and for as long as the job lives; otherwise the same
page could be queued twice, in two buckets.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import msgspec
from scrapy.exceptions import CannotResolveHostError

from weft.engine.http.resolver import Resolver, is_address
from weft.frontier import Frontier
from weft.records import HostKey, PackedRequest

if TYPE_CHECKING:
    from tldextract import TLDExtract

#: How long links wait for the address of their host; after that its name is its key.
LOOKUP_S = 2.0
#: Lookups at a time. One that takes long holds up its thread, even when nobody waits for it.
LOOKUPS = 64
#: Names whose keys are remembered here.
MAX_KNOWN = 100_000


class HostKeys(Protocol):
    def key(self, name: str) -> str:
        """The host key of a host name, as far as it is known here; else the name itself. A host key
        is its own."""

    async def find(self, name: str) -> str:
        """The same, but found out if need be."""

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        """The links, whose `host` is a host name, with host keys."""

    def close(self) -> None: ...


def make_keys(frontier: Frontier) -> HostKeys:
    """As its job was begun with."""
    match frontier.host_key:
        case HostKey.DOMAIN:
            return ByDomain()
        case HostKey.IP:
            return ByAddress(frontier)
    return ByName()


class ByName:
    def key(self, name: str) -> str:
        return name

    async def find(self, name: str) -> str:
        return name

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        return links

    def close(self) -> None:
        pass


class ByDomain:
    def key(self, name: str) -> str:
        return domain_of(name)

    async def find(self, name: str) -> str:
        return domain_of(name)

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        return [_with_host(link, domain_of(link.host)) for link in links]

    def close(self) -> None:
        pass


class ByAddress:
    """A name that cannot be looked up, or not in time, is its own key."""

    def __init__(self, frontier: Frontier, resolver: Resolver | None = None) -> None:
        self._frontier = frontier
        self._resolver = resolver or Resolver(cache_size=0, timeout_s=LOOKUP_S, threads=LOOKUPS)
        self._known: dict[str, str] = {}
        self._restarts = frontier.restarts

    def key(self, name: str) -> str:
        return self._known.get(name, name)

    async def find(self, name: str) -> str:
        await self._learn([name])
        return self.key(name)

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        # What is dropped is never fetched: nobody needs its address.
        await self._learn({link.host for link in links if not link.dropped_by})
        return [_with_host(link, self.key(link.host)) for link in links]

    async def _learn(self, names: Iterable[str]) -> None:
        await self._notice_restart()
        new = [name for name in names if _has_address(name) and name not in self._known]
        new = await self._fix(new, [""] * len(new))
        await self._fix(new, await asyncio.gather(*map(self._look_up, new)))

    async def _fix(self, names: Sequence[str], keys: Sequence[str]) -> list[str]:
        """Those that the frontier has no key for."""
        if not names:
            return []
        fixed = await self._frontier.fix_keys([*zip(names, keys, strict=True)])
        for name, key in zip(names, fixed, strict=True):
            if key:
                self._known[name] = key
        while len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return [name for name, key in zip(names, fixed, strict=True) if not key]

    async def _look_up(self, name: str) -> str:
        try:
            # Whoever asks next may be told the same addresses in another order.
            return min(await self._resolver.addresses(name))
        except CannotResolveHostError:
            return name

    async def _notice_restart(self) -> None:
        """A store that went back a moment may not know any more what it kept."""
        if self._frontier.restarts != self._restarts:
            self._restarts = self._frontier.restarts
            await self._fix([*self._known], [*self._known.values()])

    def close(self) -> None:
        self._resolver.close()


def _has_address(name: str) -> bool:
    """Not what is one, nor what has no host."""
    return bool(name) and not name.startswith("[") and not is_address(name)


def _with_host(link: PackedRequest, host: str) -> PackedRequest:
    return link if link.host == host else msgspec.structs.replace(link, host=host)


# Domains


@lru_cache(maxsize=MAX_KNOWN)
def domain_of(name: str) -> str:
    """The registrable domain of a host name, by the public suffix list with its private part; the
    name itself if it has none, as addresses and public suffixes."""
    if not _has_address(name):
        return name
    found = _suffixes().extract_str(name)
    if found.domain and found.suffix:
        return f"{found.domain}.{found.suffix}"
    if found.suffix:
        return name
    # The list says of endings that it does not know that they are public suffixes.
    return ".".join(name.rstrip(".").split(".")[-2:])


@lru_cache(maxsize=1)
def _suffixes() -> "TLDExtract":
    """The list as tldextract brings it: the network is not asked, and nothing is written."""
    # Here, for it takes a while, and most jobs do without.
    import tldextract

    return tldextract.TLDExtract(
        cache_dir=None,
        suffix_list_urls=(),
        fallback_to_snapshot=True,
        include_psl_private_domains=True,
    )

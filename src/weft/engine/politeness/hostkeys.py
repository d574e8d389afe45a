"""Maps host names to host keys: requests with the same key share a queue, a budget and a bucket.

The key is the name, the registrable domain or the address, as the job was started with. (A request
that chose a download slot has the name of that in place of the name of its host.) A name and
its domain are the same for everyone at any time. An address is not: it is looked up once, when a
name is first met, and kept in the frontier for all workers and for as long as the job lives.
Otherwise the same page could be queued twice, in two buckets.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import msgspec
from scrapy.exceptions import CannotResolveHostError

from weft.engine.http.resolver import HostResolver, is_address
from weft.engine.requests.slots import is_bare
from weft.frontier import Frontier
from weft.records import HostKey, PackedRequest
from weft.urls import host_key

if TYPE_CHECKING:
    from tldextract import TLDExtract

#: How long links wait for the address of their host; after that its name is its key.
LOOKUP_S = 2.0
#: Lookups at a time. A slow one blocks its thread, even when nobody waits for it.
LOOKUPS = 64
#: Names whose keys are remembered here.
MAX_KNOWN = 100_000


class HostKeys(Protocol):
    def key(self, name: str) -> str:
        """The host key of a host name if it is known here, else the name itself. A host key is its
        own key."""

    async def find(self, name: str) -> str:
        """The same, but look it up if it is not known."""

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        """Replace the host names in the `host` of links with host keys."""

    def close(self) -> None: ...


def make_keys(frontier: Frontier) -> HostKeys:
    """Make the kind of host keys that the job was started with."""
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
    """A name is its own key if its lookup fails or takes too long."""

    def __init__(self, frontier: Frontier, resolver: HostResolver | None = None) -> None:
        self._frontier = frontier
        self._resolver = resolver or HostResolver(cache_size=0, timeout_s=LOOKUP_S, threads=LOOKUPS)
        self._known: dict[str, str] = {}
        self._restarts = frontier.restarts

    def key(self, name: str) -> str:
        return self._known.get(name, name)

    async def find(self, name: str) -> str:
        await self._learn([name])
        return self.key(name)

    async def keyed(self, links: list[PackedRequest]) -> list[PackedRequest]:
        # A dropped link is never fetched, so nobody needs its address.
        names = {link.host for link in links if not link.dropped_by and not _is_bare_slot(link)}
        await self._learn(names)
        return [_with_host(link, self.key(link.host)) for link in links]

    async def _learn(self, names: Iterable[str]) -> None:
        await self._notice_restart()
        new = [name for name in names if _has_address(name) and name not in self._known]
        new = await self._fix(new, [""] * len(new))
        await self._fix(new, await asyncio.gather(*map(self._look_up, new)))

    async def _fix(self, names: Sequence[str], keys: Sequence[str]) -> list[str]:
        """Fix the keys of names. Returns the names that the frontier has no key for."""
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
            # The next lookup may return the same addresses in another order.
            return min(await self._resolver.addresses(name))
        except CannotResolveHostError:
            return name

    async def _notice_restart(self) -> None:
        """A store that went back a moment may have lost keys: fix them again."""
        if self._frontier.restarts != self._restarts:
            self._restarts = self._frontier.restarts
            await self._fix([*self._known], [*self._known.values()])

    def close(self) -> None:
        self._resolver.close()


def _has_address(name: str) -> bool:
    """Whether it is a host name: not an address, and not empty."""
    return bool(name) and not name.startswith("[") and not is_address(name)


def _is_bare_slot(link: PackedRequest) -> bool:
    return is_bare(link.host) and link.host != host_key(link.url)


def _with_host(link: PackedRequest, host: str) -> PackedRequest:
    return link if link.host == host else msgspec.structs.replace(link, host=host)


# Domains


@lru_cache(maxsize=MAX_KNOWN)
def domain_of(name: str) -> str:
    """The registrable domain of a host name, by the public suffix list with its private part. If
    there is none, as for addresses and public suffixes, the name itself."""
    if not _has_address(name):
        return name
    found = _suffixes().extract_str(name)
    if found.domain and found.suffix:
        return f"{found.domain}.{found.suffix}"
    if found.suffix:
        return name
    # By the rules of the list, an ending that it does not contain is a public suffix.
    return ".".join(name.rstrip(".").split(".")[-2:])


@lru_cache(maxsize=1)
def _suffixes() -> "TLDExtract":
    """The list that comes with tldextract: no network access, and nothing is written."""
    # Imported here because it takes a while, and most jobs do not need it.
    import tldextract

    return tldextract.TLDExtract(
        cache_dir=None,
        suffix_list_urls=(),
        fallback_to_snapshot=True,
        include_psl_private_domains=True,
    )

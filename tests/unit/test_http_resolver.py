"""Addresses of hosts."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingHostnameResolver, CachingThreadedResolver
from twisted.internet.asyncioreactor import AsyncioSelectorReactor
from twisted.names.client import Resolver

from weft.engine.http.handler import has_own_resolver
from weft.engine.http.resolver import HostResolver

ADDRESS = "192.0.2.1"


class Names:
    """Knows one address, counts who asks, and answers when it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def look_up(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        self.may_answer.wait(10)
        if host == "nowhere.test":
            raise OSError("no such host")
        return [ADDRESS]


@asynccontextmanager
async def opened(
    names: Names, cache_size: int = 2, timeout_s: float = 10
) -> AsyncIterator[HostResolver]:
    resolver = HostResolver(
        cache_size=cache_size, timeout_s=timeout_s, threads=2, look_up=names.look_up
    )
    yield resolver
    resolver.close()


@pytest.mark.parametrize("address", ["192.0.2.7", "::1"])
async def test_an_address_is_not_looked_up(address: str) -> None:
    names = Names()
    async with opened(names) as resolver:
        assert await resolver.addresses(address) == [address]
    assert names.asked == []


@pytest.mark.parametrize(("cache_size", "times"), [(0, 2), (1, 1)])
async def test_a_host_is_looked_up_once_if_it_may_be_remembered(
    cache_size: int, times: int
) -> None:
    names = Names()
    async with opened(names, cache_size) as resolver:
        for _ in range(2):
            assert await resolver.addresses("a.test") == [ADDRESS]
    assert names.asked == ["a.test"] * times


async def test_of_too_many_hosts_the_oldest_is_forgotten() -> None:
    names = Names()
    async with opened(names) as resolver:
        for host in ("a.test", "b.test", "c.test", "b.test", "a.test"):
            await resolver.addresses(host)
    assert names.asked == ["a.test", "b.test", "c.test", "a.test"]


async def test_those_who_ask_at_the_same_time_share_a_lookup_even_if_one_leaves() -> None:
    names = Names()
    async with opened(names) as resolver:
        names.may_answer.clear()
        first, second = (asyncio.ensure_future(resolver.addresses("a.test")) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        names.may_answer.set()
        assert await second == [ADDRESS]
    assert names.asked == ["a.test"]


async def test_a_host_that_does_not_exist_is_asked_for_again() -> None:
    names = Names()
    async with opened(names) as resolver:
        for _ in range(2):
            with pytest.raises(CannotResolveHostError, match=r"hostname lookup: nowhere\.test"):
                await resolver.addresses("nowhere.test")
    assert names.asked == ["nowhere.test"] * 2


async def test_a_lookup_that_takes_too_long_is_given_up() -> None:
    names = Names()
    async with opened(names, timeout_s=0.01) as resolver:
        names.may_answer.clear()
        with pytest.raises(CannotResolveHostError, match=r"a\.test after 0\.01 seconds"):
            await resolver.addresses("a.test")
        names.may_answer.set()


async def test_a_lookup_that_nobody_waits_for_any_more_may_fail() -> None:
    names = Names()
    async with opened(names) as resolver:
        names.may_answer.clear()
        asking = asyncio.ensure_future(resolver.addresses("nowhere.test"))
        await asyncio.sleep(0)
        asking.cancel()
        names.may_answer.set()
        assert await resolver.addresses("a.test") == [ADDRESS]


def test_a_resolver_that_a_script_installs_in_the_reactor_is_noticed() -> None:
    loop = asyncio.new_event_loop()
    reactor = AsyncioSelectorReactor(loop)
    try:
        assert not has_own_resolver(reactor)
        CachingThreadedResolver(reactor, cache_size=10, timeout=1).install_on_reactor()
        assert not has_own_resolver(reactor)
        CachingHostnameResolver(reactor, cache_size=10).install_on_reactor()
        assert not has_own_resolver(reactor)
        chosen = Resolver(servers=[("127.0.0.1", 53)], reactor=reactor)  # type: ignore[no-untyped-call]
        reactor.installResolver(chosen)  # type: ignore[arg-type]
        assert has_own_resolver(reactor)
    finally:
        loop.close()

"""Duties of masters: one at a time has each, and who was away for too long hears of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from launchers.redis import RedisServer
from servers import Kit
from weft.cluster.duties import Duties
from weft.redis import keys
from weft.redis.client import Client
from weft.testing.clock import FakeClock
from weft.testing.waiting import until

pytestmark = pytest.mark.timeout(60)

LEASE_MS = 1_000
LONG_MS = 60_000


@asynccontextmanager
async def masters(
    kit: Kit | RedisServer, clock: FakeClock | None = None
) -> AsyncIterator[tuple[Duties, Duties]]:
    async with Client(kit.url) as one, Client(kit.url) as two:
        yield Duties(one, "one", clock), Duties(two, "two", clock)


async def test_one_of_several_has_a_duty(setup: Kit) -> None:
    async with masters(setup) as (one, two):
        token = await one.take("schedules", LONG_MS)
        assert token
        assert await two.take("schedules", LONG_MS) is None
        assert await one.take("schedules", LONG_MS) == token
        assert await one.keep("schedules", token, LONG_MS)
        # Each duty is on its own.
        assert await two.take("alarms", LONG_MS)
        assert await one.take("alarms", LONG_MS) is None


async def test_a_duty_that_is_given_up_is_free_at_once(setup: Kit) -> None:
    async with masters(setup) as (one, two):
        first = await one.take("schedules", LONG_MS)
        assert first
        await one.give_up("schedules", first)
        assert await one.holder("schedules") is None
        second = await two.take("schedules", LONG_MS)
        assert second
        assert second > first
        assert not await one.keep("schedules", first, LONG_MS)
        # Giving up that arrives late ends nothing.
        await one.give_up("schedules", first)
        assert await two.keep("schedules", second, LONG_MS)


async def test_a_master_that_is_dead_is_replaced_when_its_lease_has_run_out(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with masters(redis_server, clock) as (one, two):
        first = await one.take("schedules", LEASE_MS)
        assert first
        clock.advance(LEASE_MS - 1)
        assert await two.take("schedules", LEASE_MS) is None
        clock.advance(1)
        second = await two.take("schedules", LEASE_MS)
        assert second
        assert second > first
        # It was only away: it hears that the duty is not its own any more.
        assert not await one.keep("schedules", first, LEASE_MS)
        assert await one.take("schedules", LEASE_MS) is None


async def test_a_duty_that_nobody_took_goes_on(redis_server: RedisServer) -> None:
    clock = FakeClock()
    async with masters(redis_server, clock) as (one, two):
        token = await one.take("schedules", LEASE_MS)
        assert token
        clock.advance(10 * LEASE_MS)
        holder = await two.holder("schedules")
        assert holder
        assert (holder.owner, holder.token, holder.left_ms) == ("one", token, 0)
        assert await one.keep("schedules", token, LEASE_MS)
        assert await two.take("schedules", LEASE_MS) is None


async def test_the_clock_of_leases_is_that_of_redis(redis_server: RedisServer) -> None:
    async with masters(redis_server) as (one, two):
        assert await one.take("schedules", 200)

        async def is_taken() -> bool:
            return await two.take("schedules", LONG_MS) is not None

        await until(is_taken, "the lease has run out")
        holder = await one.holder("schedules")
        assert holder
        assert holder.owner == "two"
        assert LONG_MS - 10_000 < holder.left_ms <= LONG_MS


async def test_tokens_grow_even_if_the_store_has_forgotten_them(redis_server: RedisServer) -> None:
    async with masters(redis_server) as (one, two):
        first = await one.take("schedules", LONG_MS)
        assert first
        redis_server.ask("DEL", *(f"{keys.duty_prefix('schedules')}{n}" for n in ("lease", "meta")))
        second = await two.take("schedules", LONG_MS)
        assert second
        assert second > first
        assert not await one.keep("schedules", first, LONG_MS)


async def test_a_duty_is_kept_by_a_store_without_memory() -> None:
    with RedisServer() as server:
        async with masters(server) as (one, _):
            token = await one.take("schedules", LONG_MS)
            assert token
            server.ask("CONFIG", "SET", "maxmemory", 1)
            async with asyncio.timeout(5):
                assert await one.keep("schedules", token, LONG_MS)
                assert await one.take("schedules", LONG_MS) == token
            server.ask("CONFIG", "SET", "maxmemory", 0)


async def test_of_many_that_ask_at_once_one_has_the_duty(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        everyone = [Duties(client, f"master-{n}") for n in range(20)]
        tokens = await asyncio.gather(*(duties.take("alarms", LONG_MS) for duties in everyone))
        assert len([token for token in tokens if token]) == 1

"""The member list of a job: all see the same, and it changes only when it has to."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from launchers.redis import RedisServer
from servers import Kit, all_keys
from weft.cluster.assignment import Member
from weft.cluster.jobs import Jobs
from weft.cluster.membership import Membership, View
from weft.cluster.status import JobState, Status
from weft.frontier.redis import RedisFrontier
from weft.redis.client import Client

pytestmark = pytest.mark.timeout(60)

SEATS = 4
#: Long enough for any machine to be heard of in time.
LONG_MS = 60_000
#: Short enough to wait for somebody to be gone.
PATIENCE_MS = 400
BEAT_S = 0.05


class One(Membership):
    """A member that is heard of when it is told to."""

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(client, "job", name)
        self.name = name

    async def beat(
        self, seats: int = SEATS, patience_ms: int = LONG_MS, status: Status | None = None
    ) -> View:
        return await self.meet(status or Status(), seats=seats, patience_ms=patience_ms)

    async def beat_until_alone(self) -> View:
        view = await self.beat(patience_ms=PATIENCE_MS)
        while len(view.members) > 1:
            await asyncio.sleep(BEAT_S)
            view = await self.beat(patience_ms=PATIENCE_MS)
        return view


@asynccontextmanager
async def members(kit: Kit, names: str) -> AsyncIterator[list[One]]:
    """Each with a client of its own; who joins is for the test to say."""
    async with AsyncExitStack() as stack:
        yield [
            One(await stack.enter_async_context(Client(kit.url)), name) for name in names.split()
        ]


def by_name(view: View) -> dict[str, Member]:
    return {member.name: member for member in view.members}


# The list


async def test_all_see_the_same_list_with_the_same_epoch(setup: Kit) -> None:
    async with members(setup, "a b c") as everyone:
        for member in everyone:
            await member.beat()
        [first, *others] = [await member.beat() for member in everyone]
        assert sorted(by_name(first)) == ["a", "b", "c"]
        for view in others:
            assert view.epoch == first.epoch
            assert by_name(view) == by_name(first)


async def test_the_epoch_changes_when_the_list_does_and_only_then(
    redis_server: RedisServer,
) -> None:
    async with members(redis_server, "a b") as [a, b]:
        epochs = [(await a.beat()).epoch]
        assert (await a.beat(status=Status(pages=9, speed=2.5))).epoch == epochs[-1]
        epochs.append((await b.beat()).epoch)
        assert (await a.beat()).epoch == epochs[-1]
        epochs.append((await a.beat(seats=6)).epoch)
        assert (await b.beat()).epoch == epochs[-1]
        assert (await b.beat(patience_ms=0)).epoch == epochs[-1]
        await b.leave()
        epochs.append((await a.beat(seats=6)).epoch)
        assert (await a.beat(seats=6)).epoch == epochs[-1]
        assert epochs == [1, 2, 3, 4]


async def test_many_that_join_at_the_same_time_have_different_places(
    redis_server: RedisServer,
) -> None:
    names = [f"worker-{number}" for number in range(20)]
    async with members(redis_server, " ".join(names)) as everyone:
        await asyncio.gather(*(member.beat(patience_ms=0) for member in everyone))
        view = await everyone[0].beat(patience_ms=0)
        assert sorted(member.number for member in view.members) == list(range(20))
        seats = sorted(seat for member in view.members for seat in member.seats)
        assert seats == list(range(20 * SEATS))


async def test_members_of_other_jobs_are_not_seen(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client, members(redis_server, "a") as [a]:
        other = Membership(client, "other", "b")
        await other.meet(Status(), seats=1, patience_ms=0)
        assert by_name(await a.beat()).keys() == {"a"}


# Who goes


async def test_who_is_silent_for_the_time_of_a_lease_is_gone(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b") as [a, b]:
        await a.beat()
        await b.beat()
        since_s = time.monotonic()
        epoch = (await a.beat()).epoch
        view = await a.beat_until_alone()
        assert (time.monotonic() - since_s) * 1000 >= PATIENCE_MS - 10
        assert by_name(view).keys() == {"a"}
        assert view.epoch == epoch + 1
        assert (await a.statuses()).keys() == {"a"}


async def test_who_was_taken_for_gone_comes_back_as_a_new_member(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b") as [a, b]:
        await a.beat()
        await b.beat()
        await a.beat_until_alone()
        view = await b.beat()
        assert by_name(view).keys() == {"a", "b"}
        assert by_name(await a.beat()) == by_name(view)
        assert a.view.epoch == view.epoch


async def test_without_patience_nobody_goes(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b") as [a, b]:
        await a.beat()
        await b.beat()
        epoch = a.view.epoch + 1
        until_s = time.monotonic() + 2 * PATIENCE_MS / 1000
        while time.monotonic() < until_s:
            view = await a.beat(patience_ms=0)
            assert (view.epoch, {*by_name(view)}) == (epoch, {"a", "b"})
            await asyncio.sleep(BEAT_S)


async def test_who_leaves_is_gone_at_once(setup: Kit) -> None:
    async with members(setup, "a b") as [a, b]:
        await a.beat()
        await b.beat()
        epoch = (await a.beat()).epoch
        await b.leave()
        view = await a.beat(patience_ms=0)
        assert (view.epoch, {*by_name(view)}) == (epoch + 1, {"a"})
        assert (await a.statuses()).keys() == {"a"}


async def test_who_is_no_member_any_more_changes_nothing_when_it_leaves(
    redis_server: RedisServer,
) -> None:
    async with members(redis_server, "a b c") as [a, b, c]:
        await a.beat()
        await b.beat()
        epoch = (await a.beat_until_alone()).epoch
        await b.leave()
        await b.leave()
        await c.leave()
        assert (await a.beat()).epoch == epoch


async def test_nobody_goes_because_the_store_stood_still(redis_server: RedisServer) -> None:
    """Whoever is heard of first when it goes on must not take the others for silent."""

    async with members(redis_server, "a b c") as [a, b, c]:
        for member in (a, b, a):
            await member.beat()
        before = by_name(a.view)
        redis_server.stop()
        try:
            under_way = asyncio.ensure_future(a.beat(patience_ms=PATIENCE_MS))
            joining = asyncio.ensure_future(c.beat(patience_ms=PATIENCE_MS))
            await asyncio.sleep(1.2 * PATIENCE_MS / 1000)
        finally:
            redis_server.cont()
        await asyncio.gather(under_way, joining)
        await b.beat()
        after = by_name(await a.beat())
        assert after == before | {"c": after["c"]}


# Places


async def test_places_are_the_lowest_that_are_free(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b c d") as [a, b, c, d]:
        for member in (a, b, c):
            await member.beat(patience_ms=0)
        view = await a.beat()
        assert by_name(view) == {
            "a": Member("a", 0, (0, 1, 2, 3)),
            "b": Member("b", 1, (4, 5, 6, 7)),
            "c": Member("c", 2, (8, 9, 10, 11)),
        }
        await b.leave()
        # Who comes in place of another has what that one had.
        assert by_name(await d.beat(patience_ms=0))["d"] == Member("d", 1, (4, 5, 6, 7))
        await b.beat(patience_ms=0)
        assert by_name(b.view)["b"] == Member("b", 3, (12, 13, 14, 15))


async def test_who_replaces_a_dead_member_has_its_places(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b c") as [a, b, c]:
        await a.beat()
        await b.beat()
        dead = by_name(await b.beat())["a"]
        await b.beat_until_alone()
        assert by_name(await c.beat())["c"] == Member("c", dead.number, dead.seats)


async def test_a_change_of_weight_changes_only_ones_own_seats(redis_server: RedisServer) -> None:
    async with members(redis_server, "a b c") as [a, b, c]:
        for member in (a, b, c):
            await member.beat(patience_ms=0)
        before = by_name(await a.beat(patience_ms=0))
        more = by_name(await b.beat(seats=6, patience_ms=0))
        assert more["b"] == Member("b", 1, (4, 5, 6, 7, 12, 13))
        less = by_name(await b.beat(seats=2, patience_ms=0))
        assert less["b"] == Member("b", 1, (4, 5))
        assert by_name(await c.beat(seats=5, patience_ms=0))["c"] == Member(
            "c", 2, (8, 9, 10, 11, 6)
        )
        again = by_name(await b.beat(seats=4, patience_ms=0))
        assert again["b"] == Member("b", 1, (4, 5, 7, 12))
        assert more["a"] == less["a"] == again["a"] == before["a"]
        assert more["c"] == less["c"] == before["c"]


# What is told


async def test_everyone_can_read_what_a_member_tells_about_itself(
    redis_server: RedisServer,
) -> None:
    async with members(redis_server, "a b") as [a, b]:
        told = Status(
            node="north",
            host="machine",
            pid=7,
            state="running",
            buckets=3,
            weight=1.25,
            speed=12.5,
            pages=100,
            pages_per_s=4.5,
            errors=2,
            cpu_share=0.5,
            memory_bytes=2**33,
            claims=16,
        )
        await a.beat(status=told)
        await b.beat()
        assert await b.statuses() == {"a": told, "b": Status()}
        await a.beat(status=Status(pages=101))
        assert (await b.statuses())["a"] == Status(pages=101)


async def test_members_hear_what_they_are_told_to_do(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client, members(redis_server, "a") as [a]:
        assert (await a.beat()).state is JobState.RUNNING
        epoch = a.view.epoch
        for state in (JobState.PAUSED, JobState.STOPPED, JobState.RUNNING):
            await Jobs(client).set_state("job", state)
            assert (await a.beat()).state is state
        assert a.view.epoch == epoch


# The store


async def test_members_are_heard_by_a_store_without_memory() -> None:
    """Otherwise they would lose their leases, and could not finish what would free some."""

    with RedisServer() as server:
        async with members(server, "a b c") as [a, b, c]:
            for member in (a, b, c):
                await member.beat()
            server.ask("CONFIG", "SET", "maxmemory", 1)
            async with asyncio.timeout(5):
                assert by_name(await a.beat()).keys() == {"a", "b", "c"}
                await b.leave()
                assert by_name(await a.beat()).keys() == {"a", "c"}
                await a.beat_until_alone()
            server.ask("CONFIG", "SET", "maxmemory", 0)


async def test_the_list_survives_a_restart_of_the_store() -> None:
    with RedisServer(durable=True) as server:
        async with members(server, "a b") as [a, b]:
            await a.beat(patience_ms=0)
            await b.beat(patience_ms=0)
            server.kill()
            server.start()
            assert await a.beat(patience_ms=0) == await b.beat(patience_ms=0)
            assert by_name(a.view).keys() == {"a", "b"}
            assert b.server_age_s < 30


async def test_clearing_a_job_forgets_its_members(redis_server: RedisServer) -> None:
    async with members(redis_server, "a") as [a], RedisFrontier(redis_server.url, "job") as job:
        await a.beat()
        await job.clear()
        assert all_keys(redis_server) == []


async def test_a_crawl_that_starts_over_keeps_its_members(redis_server: RedisServer) -> None:
    async with members(redis_server, "a") as [a], RedisFrontier(redis_server.url, "job") as job:
        before = await a.beat()
        await job.begin(is_fresh=True, is_rerun=False)
        assert await a.beat() == before

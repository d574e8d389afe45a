"""Turns of hosts on a shared frontier: who is called, what hand-overs and moves leave as it was."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from launchers.redis import RedisServer
from servers import Kit, all_keys
from weft.config import FrontierConfig, SharedConfig
from weft.frontier.base import Hold
from weft.frontier.redis import RedisFrontier
from weft.records import Claims, Picker, Turns, Visit
from weft.testing.clock import FakeClock
from weft.testing.frontier_contract import done, requests

pytestmark = pytest.mark.timeout(60)

LEASE_MS = 1_000
KEEP_MS = 5_000


class Worker:
    def __init__(self, frontier: RedisFrontier, name: str) -> None:
        self.frontier = frontier
        self.name = name

    async def hold(self, *wanted: int) -> Hold:
        return await self.frontier.hold(
            self.name, wanted, lease_ms=LEASE_MS, may_evict=True, sharers=1
        )

    async def claim(self, limit: int = 9) -> Claims:
        return await self.frontier.claim(self.name, limit)

    async def visit(self, host: str = "a", **told: Any) -> Turns:
        visit = Visit(host, **({"concurrency": 1} | told))
        [turns] = await self.frontier.visit(self.name, [visit], keep_ms=KEEP_MS)
        return turns


@asynccontextmanager
async def workers(
    kit: Kit, names: str = "owner you", clock: FakeClock | None = None, **shape: Any
) -> AsyncIterator[list[Worker]]:
    config = FrontierConfig(shared=SharedConfig(**({"buckets": 1} | shape)))
    async with AsyncExitStack() as stack:
        opened = []
        for name in names.split():
            frontier = RedisFrontier(kit.url, "job", config, clock)
            opened.append(Worker(await stack.enter_async_context(frontier), name))
        yield opened


async def test_the_owner_of_a_host_is_called_by_its_lease(setup: Kit) -> None:
    async with workers(setup) as [owner, you]:
        await owner.frontier.add(requests(2))
        assert (await owner.hold(0)).called == ()
        await owner.claim()
        assert (await you.visit(waiting=1)).given == 0
        assert (await owner.hold(0)).called == ("a",)
        sharing = (await owner.visit()).sharing
        assert (await owner.hold(0)).called == ("a",)  # it has not said yet that it knows
        await owner.visit(sharing=sharing)
        assert (await owner.hold(0)).called == ()
        assert (await you.visit(waiting=1)).given == 1


async def test_nobody_is_called_for_a_host_that_it_has_no_claims_of(redis_server: Kit) -> None:
    async with workers(redis_server) as [owner, you]:
        await owner.hold(0)
        assert (await you.visit(waiting=1)).given == 1
        assert (await owner.hold(0)).called == ()


async def test_who_takes_a_bucket_over_is_not_waited_for(redis_server: Kit) -> None:
    """The claims of the one before are put back in the same step."""
    clock = FakeClock()
    async with workers(redis_server, "dead next you", clock) as [dead, following, you]:
        await dead.frontier.add(requests(2))
        await dead.hold(0)
        await dead.claim()
        assert (await you.visit(waiting=1)).given == 0
        clock.advance(LEASE_MS)
        await following.hold(0)
        assert (await you.visit(waiting=1)).given == 1
        claims = await following.claim()
        assert len(claims.claims) == 2
        assert claims.shared_hosts == ("a",)


async def test_what_is_left_in_the_store_is_little(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [owner, you]:
        await you.visit(waiting=1)
        assert {"weft:{job:b0}:visitors"} <= {*all_keys(redis_server)}
        await you.visit()
        names = {key.rpartition(":")[2] for key in all_keys(redis_server)}
        assert not names & {"visitors", "called"}
        await owner.visit("b", waiting=1)
        await owner.frontier.clear()
        names = {key.rpartition(":")[2] for key in all_keys(redis_server)}
        assert not names & {"visitors", "called"}


async def test_a_server_without_memory_is_told_what_has_ended(redis_server: RedisServer) -> None:
    async with workers(redis_server) as [owner, you]:
        assert (await owner.visit(waiting=1)).given == 1
        redis_server.ask("CONFIG", "SET", "maxmemory", "1")
        try:
            await owner.visit()
            assert (await you.visit(waiting=1)).given == 1
        finally:
            redis_server.ask("CONFIG", "SET", "maxmemory", "0")


async def test_turns_survive_a_restart_of_redis() -> None:
    with RedisServer(durable=True) as server:
        async with workers(server) as [owner, you]:
            assert (await owner.visit(waiting=1)).given == 1
            server.kill()
            server.start()
            assert (await you.visit(waiting=1)).given == 0
            assert (await owner.visit(under_way=1)).given == 0
            assert (await you.visit(waiting=1)).given == 0
            await owner.visit()
            assert (await you.visit(waiting=1)).given == 1


async def test_a_store_that_has_forgotten_turns_hears_of_them_again() -> None:
    with RedisServer() as server:
        async with workers(server) as [owner, you]:
            assert (await owner.visit(waiting=1)).given == 1
            server.ask("DEL", "weft:{job:b0}:visitors")
            await owner.visit(under_way=1)
            assert (await you.visit(waiting=1)).given == 0


async def test_visitors_move_with_their_host(redis_server: RedisServer) -> None:
    """The picker `advanced` sends a host that has nothing queued to another bucket."""
    shape: dict[str, Any] = {"buckets": 2, "picker": Picker.ADVANCED, "bucket_limit": 5}
    async with workers(redis_server, **shape) as [owner, you]:
        layout = owner.frontier._buckets.layout
        names = [f"host-{number}" for number in range(100)]
        full, guest = [name for name in names if layout.bucket_of(name).number == 0][:2]
        assert (await you.visit(guest, waiting=1)).given == 1
        await owner.frontier.add(requests(5, full))
        await owner.frontier.add(requests(2, guest))
        assert redis_server.ask("HEXISTS", "weft:{job}:moved", guest)
        assert redis_server.ask("HEXISTS", "weft:{job}:b1:visitors", guest)
        assert not redis_server.ask("HEXISTS", "weft:{job}:b0:visitors", guest)
        # Who does not know that it was moved finds it, with what is known of it.
        assert (await owner.visit(guest, waiting=1)).given == 0
        await you.visit(guest)
        assert (await owner.visit(guest, waiting=1)).given == 1
        claims = await owner.claim(99)
        assert {claim.request.host for claim in claims.claims} == {full, guest}
        await owner.frontier.finish(done(claims.claims))
        assert not redis_server.ask("HEXISTS", "weft:{job}:moved", guest)
        assert redis_server.ask("HEXISTS", "weft:{job}:b0:visitors", guest)
        assert (await you.visit(guest, waiting=1)).given == 0
        await owner.visit(guest)
        assert (await you.visit(guest, waiting=1)).given == 1

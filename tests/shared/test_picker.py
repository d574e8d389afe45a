"""The picker `advanced`: a full bucket sends new hosts to the least loaded one (F15)."""

from hashlib import md5
from typing import Any

import msgspec

from launchers.redis import RedisServer
from weft.clock import Clock
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.redis import RedisFrontier
from weft.records import AddStatus, Ending, PackedRequest, PageKind, Picker
from weft.testing import FakeClock
from weft.testing.frontier_contract import done, request, requests
from weft.testing.frontier_contract.making import HOUR_MS

BUCKETS = 4


def make(server: RedisServer, clock: Clock | None = None, **config: Any) -> RedisFrontier:
    shape = SharedConfig(buckets=BUCKETS, bucket_limit=10, picker=Picker.ADVANCED)
    config.setdefault("limits", HostLimits(concurrency=1_000_000))
    return RedisFrontier(server.url, "job", FrontierConfig(shared=shape, **config), clock)


def hash_of(host: str) -> int:
    return int(md5(host.encode()).hexdigest(), 16) % BUCKETS


def hosts_of(bucket: int) -> list[str]:
    """Hosts that the hash puts into one bucket."""
    return [host for host in (f"host-{i}" for i in range(100)) if hash_of(host) == bucket]


def moved(server: RedisServer) -> dict[str, int]:
    with server.client() as client:
        client.connection_pool.connection_kwargs["decode_responses"] = False
        table = client.hgetall("weft:{job}:moved")
    buckets = {}
    for host, packed in table.items():
        bucket, _ = msgspec.msgpack.decode(packed, type=tuple[str, str])
        buckets[host.decode()] = int(bucket.rpartition(":b")[2].strip(":"))
    return buckets


def fill(bucket: int) -> list[PackedRequest]:
    return requests(20, hosts_of(bucket)[0])


async def test_a_host_goes_where_its_hash_says_while_there_is_room(
    redis_server: RedisServer,
) -> None:
    async with make(redis_server) as frontier:
        for host in hosts_of(0)[:3] + hosts_of(1)[:3]:
            await frontier.add(requests(2, host))
        assert moved(redis_server) == {}


async def test_a_full_bucket_sends_new_hosts_to_the_least_loaded(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        await frontier.add(fill(0) + requests(5, hosts_of(1)[0]) + requests(3, hosts_of(2)[0]))
        first, new, other = hosts_of(0)[:3]
        assert await frontier.add(requests(4, new)) == [AddStatus.QUEUED] * 4
        assert moved(redis_server) == {new: 3}
        assert await frontier.add(requests(4, new)) == [AddStatus.KNOWN] * 4
        # It goes on there, though another bucket may have less by now.
        await frontier.add([request(f"http://{new}/more")])
        assert moved(redis_server) == {new: 3}
        # A host that has requests in its own bucket stays there.
        await frontier.add([request(f"http://{first}/more")])
        await frontier.add(requests(1, other))
        assert moved(redis_server) == {new: 3, other: 2}


async def test_the_entry_goes_when_nothing_waits_any_more(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        new = hosts_of(0)[1]
        await frontier.add(fill(0))
        await frontier.add(requests(2, new))
        assert new in moved(redis_server)
        claims = [
            claim for claim in (await frontier.claim("me", 100)).claims if claim.request.host == new
        ]
        await frontier.finish(done(claims[:1]))
        assert new in moved(redis_server)
        await frontier.finish(done(claims[1:]))
        assert moved(redis_server) == {}
        # What it has had is known wherever it goes next.
        assert await frontier.add(requests(2, new)) == [AddStatus.KNOWN] * 2


async def test_the_budget_of_a_host_goes_with_it(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        first, new = hosts_of(0)[:2]
        await frontier.add(requests(1, new))
        [claim] = (await frontier.claim("me", 1)).claims
        await frontier.finish(
            done([claim], status=429, retry_after_ms=3_600_000, ending=Ending.DONE)
        )
        await frontier.add(fill(0))
        await frontier.add([request(f"http://{new}/next")])
        assert new in moved(redis_server)
        urls = {claim.request.host for claim in (await frontier.claim("me", 100)).claims}
        assert urls == {first}
        [state] = [state for state in await frontier.hosts(9) if state.host == new]
        assert state.backoff == 1
        assert (await frontier.stats()).hosts == 2


async def test_another_worker_finds_a_host_that_was_moved(redis_server: RedisServer) -> None:
    async with make(redis_server) as one, make(redis_server) as other:
        new = hosts_of(0)[1]
        await one.add(fill(0))
        await one.add(requests(2, new))
        assert await other.add(requests(3, new)) == [
            AddStatus.KNOWN,
            AddStatus.KNOWN,
            AddStatus.QUEUED,
        ]
        [told] = await other.explain([request(f"http://{new}/2").fingerprint], new)
        assert told.url == f"http://{new}/2"
        claims = []
        while (await other.stats()).pending:
            got = (await other.claim("me", 10)).claims
            claims += got
            await other.finish(done(got))
        assert len(claims) == 23
        # The first still thinks that it is elsewhere, and learns better.
        assert await one.add([request(f"http://{new}/late")]) == [AddStatus.QUEUED]


async def test_a_failed_url_of_a_moved_host_is_remembered_at_home(
    redis_server: RedisServer,
) -> None:
    async with make(redis_server, bad_url_ms=3_600_000) as frontier:
        new = hosts_of(0)[1]
        await frontier.add(fill(0))
        await frontier.add(requests(1, new))
        claims = (await frontier.claim("me", 100)).claims
        mine = [claim for claim in claims if claim.request.host == new]
        await frontier.finish(done(mine, ending=Ending.FAILED, status=404))
        assert moved(redis_server) == {}
        assert await frontier.add(requests(1, new)) == [AddStatus.BAD]


async def test_what_is_held_under_a_name_is_known_where_its_host_key_is_at_home(
    redis_server: RedisServer,
) -> None:
    """The host key was moved; one of its hosts does not exist, comes back, and fails."""
    clock = FakeClock()
    async with make(redis_server, clock, bad_host_ms=1_000, bad_url_ms=5_000) as frontier:
        key = hosts_of(0)[1]
        gone = request(f"http://gone.{key}/", host=key)
        await frontier.add(fill(0))
        await frontier.add([gone])
        assert key in moved(redis_server)
        for is_host_bad in (True, False):
            claims = (await frontier.claim("me", 100)).claims
            [claim] = [each for each in claims if each.request.url == gone.url]
            outcomes = done([claim], ending=Ending.FAILED, status=0, is_host_bad=is_host_bad)
            assert await frontier.finish(outcomes) == [True]
            clock.advance(1_000)
        assert moved(redis_server) == {}
        assert await frontier.add([gone]) == [AddStatus.BAD]
        clock.advance(5_000)
        assert await frontier.add([gone]) == [AddStatus.QUEUED]


# Pages that wait until they are due


async def test_a_host_that_was_moved_stays_until_its_last_page_has_come(
    redis_server: RedisServer,
) -> None:
    clock = FakeClock()
    async with make(redis_server, clock) as frontier:
        new = hosts_of(0)[1]
        await frontier.add(fill(0))
        await frontier.add(requests(2, new))
        claims = (await frontier.claim("me", 100)).claims
        own = [claim for claim in claims if claim.request.host == new]
        await frontier.finish(done([claim for claim in claims if claim not in own]))
        await frontier.finish(done(own, due_in_ms=HOUR_MS))
        assert moved(redis_server) == {new: 1}
        # What is found of it goes there too, though its own bucket has room again.
        await frontier.add([request(f"http://{new}/more")])
        assert await frontier.add(requests(2, new)) == [AddStatus.KNOWN] * 2
        await frontier.finish(done((await frontier.claim("me", 100)).claims))
        assert moved(redis_server) == {new: 1}
        clock.advance(HOUR_MS)
        again = (await frontier.claim("me", 100)).claims
        assert len(again) == 2
        assert redis_server.ask("EXISTS", "weft:{job}:b1:waits") == 0
        await frontier.finish(done(again))
        assert moved(redis_server) == {}


async def test_a_host_whose_pages_wait_at_home_is_not_moved(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        first, full = hosts_of(0)[:2]
        await frontier.add(requests(1, first, kind=PageKind.NAV))
        await frontier.finish(done((await frontier.claim("me", 1)).claims, due_in_ms=HOUR_MS))
        await frontier.add(requests(20, full))
        await frontier.add([request(f"http://{first}/more")])
        assert moved(redis_server) == {}


async def test_a_kind_that_is_forgotten_keeps_no_host(redis_server: RedisServer) -> None:
    async with make(redis_server) as frontier:
        first, full = hosts_of(0)[:2]
        await frontier.add(requests(1, first, kind=PageKind.NAV))
        await frontier.finish(done((await frontier.claim("me", 1)).claims, due_in_ms=HOUR_MS))
        await frontier.clear(PageKind.NAV)
        await frontier.add(requests(20, full))
        await frontier.add([request(f"http://{first}/more")])
        assert moved(redis_server) == {first: 1}

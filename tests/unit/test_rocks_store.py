"""What only the embedded frontier has: a directory, a lock, a format, and a cost."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rocksdict import Options, Rdict

from effort import times
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.errors import StoreError, StoreFormatError, StoreLockedError, StoreMissingError
from weft.frontier import RocksFrontier
from weft.frontier.policy import MAX_FETCHES
from weft.frontier.rocks import layout
from weft.frontier.rocks.layout import History
from weft.records import Ending, Fetch, HostKey, Order, Outcome, PackedRequest, PageKind, Stats
from weft.testing import FakeClock
from weft.urls import fingerprint

URL = "http://a/1"

# Adds one request, tells so, and keeps the store open until its standard input is closed.
HOLDER = f"""
import asyncio, sys
from pathlib import Path
from weft.frontier import RocksFrontier
from weft.records import PackedRequest
from weft.urls import fingerprint

async def main():
    async with RocksFrontier(Path(sys.argv[1])) as frontier:
        await frontier.add([PackedRequest(fingerprint({URL!r}), {URL!r}, "a")])
        print("open", flush=True)
        sys.stdin.read()

asyncio.run(main())
"""


@contextmanager
def held_by_another_process(path: Path) -> Iterator[None]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        yield


async def opened(path: Path, **arguments: Any) -> Stats:
    async with RocksFrontier(path, **arguments) as frontier:
        return await frontier.stats()


async def stats_of(path: Path, **arguments: Any) -> Stats:
    return await opened(path, **arguments)


def raw_store(path: Path) -> Rdict:
    return Rdict(str(path), Options(raw_mode=True))


# Who may open it


async def test_store_may_be_closed_twice(tmp_path: Path) -> None:
    frontier = RocksFrontier(tmp_path)
    for _ in range(2):
        async with frontier:
            await frontier.add([PackedRequest(fingerprint(URL), URL, "a")])
        await frontier.__aexit__()
    assert (await stats_of(tmp_path)).queued == 1


async def test_store_that_another_process_has_open_is_locked(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path):
        with pytest.raises(StoreLockedError, match="choose another store with --store") as caught:
            await stats_of(tmp_path)
        assert str(tmp_path) in str(caught.value)
    assert (await stats_of(tmp_path)).queued == 1


async def test_store_that_this_process_has_open_is_locked(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path) as frontier:
        with pytest.raises(StoreLockedError, match="in use by another process"):
            await opened(tmp_path)
        assert (await frontier.stats()).queued == 0


async def test_reader_sees_a_store_that_another_process_has_open(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path):
        async with RocksFrontier(tmp_path, is_read_only=True) as frontier:
            assert (await frontier.stats()).queued == 1
            (told,) = await frontier.explain([fingerprint(URL)])
            assert (told.url, told.queued_kind) == (URL, PageKind.DATA)
            assert [state.host for state in await frontier.hosts(9)] == ["a"]


async def test_reader_changes_nothing(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path) as frontier:
        await frontier.add([PackedRequest(1, URL, "a")])
        await frontier.claim("me", 1)
    async with RocksFrontier(tmp_path, is_read_only=True) as reader:
        assert (await reader.stats()).claimed == 1  # not put back, as a writer would
        with pytest.raises(StoreError):
            await reader.add([PackedRequest(2, "http://a/2", "a")])
    stats = await stats_of(tmp_path)
    assert (stats.added, stats.queued, stats.reclaimed) == (1, 1, 1)


async def test_closed_frontier_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not open"):
        await RocksFrontier(tmp_path).stats()


async def test_frontier_can_be_opened_again(tmp_path: Path) -> None:
    frontier = RocksFrontier(tmp_path)
    for count in range(3):
        async with frontier:
            await frontier.add([PackedRequest(count, f"http://a/{count}", "a")])
            assert (await frontier.stats()).queued == count + 1


# What may be there


async def test_directories_are_made(tmp_path: Path) -> None:
    assert await stats_of(tmp_path / "a" / "b") == Stats()


@pytest.mark.parametrize("name", ["", "nothing", "file"])
async def test_reader_of_nothing_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreMissingError, match="there is no frontier in"):
        await stats_of(tmp_path / name, is_read_only=True)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


async def test_a_store_whose_making_was_cut_short_is_none_yet(tmp_path: Path) -> None:
    """RocksDB makes its families one by one, and the process may be killed between two."""
    Rdict(str(tmp_path), layout.rocks_options()).close()
    with pytest.raises(StoreMissingError):
        async with RocksFrontier(tmp_path, is_read_only=True):
            pass
    async with RocksFrontier(tmp_path) as frontier:
        await frontier.add([PackedRequest(1, URL, "a")])
    async with RocksFrontier(tmp_path, is_read_only=True) as frontier:
        assert (await frontier.stats()).queued == 1


@pytest.mark.parametrize("name", ["file", "file/below"])
async def test_file_is_no_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(StoreError, match="cannot be used") as caught:
        await stats_of(tmp_path / name)
    assert type(caught.value) is StoreError
    assert (tmp_path / "file").read_text() == "precious"


# Names that look like RocksDB's word for a locked store.
@pytest.mark.parametrize("name", ["store", "lock", "LOCK", "blocked"])
async def test_damaged_store_is_told_as_such(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    await stats_of(path)
    for manifest in path.glob("MANIFEST-*"):
        manifest.write_bytes(b"not a block")
    with pytest.raises(StoreError, match="Corruption") as caught:
        await stats_of(path)
    assert type(caught.value) is StoreError


@pytest.mark.parametrize("is_read_only", [False, True])
async def test_store_of_a_newer_format_is_refused(tmp_path: Path, is_read_only: bool) -> None:
    await stats_of(tmp_path)
    store = raw_store(tmp_path)
    store[b"format"] = b"99"
    store.close()
    for _ in range(2):  # and is not left open
        with pytest.raises(StoreFormatError, match=r"format 99.*upgrade Weft.*--store"):
            await stats_of(tmp_path, is_read_only=is_read_only)


async def test_store_with_unknown_families_is_of_a_newer_format(tmp_path: Path) -> None:
    await stats_of(tmp_path)
    store = raw_store(tmp_path)
    store.create_column_family("invention", Options(raw_mode=True))
    store.close()
    with pytest.raises(StoreFormatError, match="upgrade Weft"):
        await stats_of(tmp_path)


async def test_store_remembers_its_format(tmp_path: Path) -> None:
    await stats_of(tmp_path)
    store = raw_store(tmp_path)
    assert store.get(b"format") == b"2"
    store.close()


async def host_key_and_format(path: Path, host_key: HostKey, *, adds: int = 0) -> tuple[str, bytes]:
    """Of a store that was opened with this host key, and got so many requests."""
    config = FrontierConfig(shared=SharedConfig(host_key=host_key))
    async with RocksFrontier(path, config) as frontier:
        await frontier.add([PackedRequest(number, URL, "a") for number in range(adds)])
        found = str(frontier.host_key)
    store = raw_store(path)
    told = store.get(b"format")
    store.close()
    return found, told or b""


async def test_a_weft_that_knows_no_other_host_keys_is_kept_from_a_store_that_has_them(
    tmp_path: Path,
) -> None:
    assert await host_key_and_format(tmp_path, HostKey.IP) == ("ip", b"3")
    # Before its first request a store takes any.
    assert await host_key_and_format(tmp_path, HostKey.HOST) == ("host", b"2")
    assert await host_key_and_format(tmp_path, HostKey.DOMAIN, adds=1) == ("domain", b"3")
    assert await host_key_and_format(tmp_path, HostKey.HOST) == ("domain", b"3")


async def test_an_older_store_has_host_names_for_host_keys(tmp_path: Path) -> None:
    await host_key_and_format(tmp_path, HostKey.HOST, adds=1)
    store = raw_store(tmp_path)
    del store[b"host_key"]
    store.close()
    async with RocksFrontier(tmp_path, is_read_only=True) as frontier:
        assert frontier.host_key is HostKey.HOST
    assert await host_key_and_format(tmp_path, HostKey.DOMAIN) == ("host", b"2")


async def fetch_again(frontier: RocksFrontier, request: PackedRequest, status: int) -> None:
    await frontier.add([msgspec.structs.replace(request, is_forced=True)])
    [claim] = (await frontier.claim("me", 1)).claims
    await frontier.finish([Outcome(claim.token, Ending.DONE, status)])


async def test_what_an_older_weft_remembers_of_a_url_is_told_first(tmp_path: Path) -> None:
    page = PackedRequest(fingerprint(URL), URL, "a")
    old = History(URL, [Fetch(1, Ending.FAILED, 500, "", PageKind.DATA)] * 2)
    await stats_of(tmp_path)
    store = raw_store(tmp_path)
    fetched = store.get_column_family(layout.FETCHED)
    fetched[layout.number_key(page.fingerprint)] = msgspec.msgpack.encode(old)
    fetched.close()
    store[b"format"] = b"1"
    store.close()
    await stats_of(tmp_path, is_read_only=True)
    async with RocksFrontier(tmp_path, UNLIMITED) as frontier:
        await fetch_again(frontier, page, 200)
        [told] = await frontier.explain([page.fingerprint])
    assert [fetch.status for fetch in told.fetches] == [500, 500, 200]
    # From now on an older Weft would not find everything.
    store = raw_store(tmp_path)
    assert store.get(b"format") == b"2"
    store.close()


async def test_a_url_that_is_fetched_all_the_time_does_not_fill_the_store(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path, UNLIMITED) as frontier:
        for status in range(200, 240):
            await fetch_again(frontier, PackedRequest(7, URL, "a"), status)
    assert histories_in(tmp_path) == MAX_FETCHES


async def test_of_a_url_that_is_finished_twice_at_once_no_more_is_kept(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path, UNLIMITED) as frontier:
        for number in range(0, 40, 2):
            # Requests that are told apart, of one URL.
            twins = [
                PackedRequest(1000 + number + twin, URL, "a", url_fingerprint=7)
                for twin in range(2)
            ]
            await frontier.add(twins)
            claims = (await frontier.claim("me", 2)).claims
            await frontier.finish([Outcome(each.token, Ending.DONE, 200) for each in claims])
    assert histories_in(tmp_path) == MAX_FETCHES + 40  # and one of each request


def histories_in(path: Path) -> int:
    store = raw_store(path)
    fetched = store.get_column_family(layout.FETCHED)
    number = len([*fetched.keys()])
    fetched.close()
    store.close()
    return number


@pytest.mark.parametrize("before", Order)
@pytest.mark.parametrize("after", Order)
async def test_changed_order_still_serves_everything(
    tmp_path: Path, before: Order, after: Order
) -> None:
    def requests(start: int) -> list[PackedRequest]:
        return [
            PackedRequest(n, f"http://a/{n}", "a", kind=PageKind(n % 2), priority=n % 3 - 1)
            for n in range(start, start + 12)
        ]

    def config(order: Order) -> FrontierConfig:
        return FrontierConfig(order=order, limits=HostLimits(concurrency=99))

    async with RocksFrontier(tmp_path, config(before)) as frontier:
        await frontier.add(requests(0))
        await frontier.claim("me", 5)  # they come back, in the order of the next
    async with RocksFrontier(tmp_path, config(after)) as frontier:
        await frontier.add(requests(12))
        claims = (await frontier.claim("me", 99)).claims
        assert (await frontier.stats()).queued == 0
    assert sorted(claim.request.fingerprint for claim in claims) == list(range(24))


# What it costs

CLAIMED = 10
UNLIMITED = FrontierConfig(limits=HostLimits(concurrency=1_000_000))


async def fill(frontier: RocksFrontier, queued: int, hosts: int) -> None:
    for start in range(0, queued, 10_000):
        numbers = range(start, min(start + 10_000, queued))
        await frontier.add(
            [PackedRequest(n, f"http://h{n % hosts}/{n}", f"h{n % hosts}") for n in numbers]
        )


async def claim_ms(frontier: RocksFrontier) -> float:
    """The median time to claim ten, when each is finished before the next."""
    times = []
    for _ in range(60):
        began_s = time.perf_counter()
        claims = (await frontier.claim("me", CLAIMED)).claims
        times.append(time.perf_counter() - began_s)
        assert len(claims) == CLAIMED
        await frontier.finish([Outcome(claim.token, Ending.DONE) for claim in claims])
    return 1000 * statistics.median(times)


async def cost_of_claim(path: Path, queued: int, hosts: int) -> float:
    async with RocksFrontier(path, UNLIMITED) as frontier:
        await fill(frontier, queued, hosts)
        return await claim_ms(frontier)


@pytest.mark.long
async def test_cost_of_a_claim_does_not_grow_with_hosts_or_queue(tmp_path: Path) -> None:
    small = await cost_of_claim(tmp_path / "small", 1_000, 10)
    assert await cost_of_claim(tmp_path / "deep", 100_000, 10) < 5 * small
    assert await cost_of_claim(tmp_path / "wide", 100_000, 10_000) < 5 * small


async def pass_through(frontier: RocksFrontier, count: int) -> None:
    for start in range(10**6, 10**6 + count, 10_000):
        numbers = range(start, start + 10_000)
        await frontier.add([PackedRequest(n, f"http://h0/{n}", "h0") for n in numbers])
        claims = (await frontier.claim("me", 10_000)).claims
        await frontier.finish([Outcome(claim.token, Ending.DONE) for claim in claims])


@pytest.mark.long
async def test_cost_of_a_claim_does_not_grow_with_what_has_passed_through(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path, UNLIMITED) as frontier:
        await fill(frontier, 2_000, 1)
        fresh = await claim_ms(frontier)
        await pass_through(frontier, times(100_000, 200_000))
        assert await claim_ms(frontier) < 5 * fresh


async def test_what_another_had_queued_meanwhile_is_claimed_after_opening_again(
    tmp_path: Path,
) -> None:
    clock = FakeClock(now_ms=1_000_000)
    frontier = RocksFrontier(tmp_path, clock=clock)
    async with frontier:
        await frontier.add([PackedRequest(1, "http://b/1", "b")])
        await frontier.claim("me", 1)  # its line begins with this host now
    async with RocksFrontier(tmp_path, clock=FakeClock(now_ms=1)) as other:
        await other.add([PackedRequest(2, "http://a/1", "a")])
    async with frontier:
        claims = await frontier.claim("me", 10)
    assert sorted(claim.request.url for claim in claims.claims) == ["http://a/1", "http://b/1"]

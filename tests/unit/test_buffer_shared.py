"""Several workers on one frontier: claims get lost, and stores go back in time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest

from buffering import CLAIM_MS, CONFIG, Crawl, Site, item, link, links, nothing, shorten_rounds
from weft.config import FrontierConfig, HostLimits
from weft.engine.claims import pace
from weft.records import Claim, Ending, Outcome, Visit
from weft.urls import fingerprint

pytestmark = pytest.mark.timeout(20)

POLITE = FrontierConfig(limits=HostLimits(delay_ms=1000), claim_ms=CLAIM_MS)


@pytest.fixture(autouse=True)
def _short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_rounds(monkeypatch)


def two_workers(config: FrontierConfig = CONFIG) -> tuple[Crawl, Crawl]:
    site = Site(config)
    return Crawl(site, "first"), Crawl(site, "second")


async def rounds(*crawls: Crawl) -> None:
    for crawl in crawls:
        await crawl.next_round()


def urls(claims: Sequence[Claim]) -> list[str]:
    return [claim.request.url for claim in claims]


# Sharing


async def test_what_one_worker_adds_another_takes() -> None:
    first, second = two_workers()
    first.supply.close()
    async with first.running(), second.running():
        first.buffer.put_link(link("http://a/1"))
        claim = await second.taken()
        assert (claim.request, claim.owner) == (link("http://a/1"), "second")


async def test_a_host_goes_to_another_worker_when_the_first_has_let_go_of_it() -> None:
    first, second = two_workers()
    await first.frontier.add(links("a", 2))
    async with first.running():
        claims = [await first.taken(), await first.taken()]
        first.supply.close()
        await first.frontier.add([link("http://a/more")])
        async with second.running():
            await rounds(second, second)
            assert second.supply.take() is None
            for claim in claims:
                first.end(claim)
            # Nobody notifies the second worker; it asks.
            assert urls([await second.taken()]) == ["http://a/more"]


async def test_several_workers_can_have_claims_of_one_host() -> None:
    limits = HostLimits(concurrency=4)
    first, second = two_workers(msgspec.structs.replace(CONFIG, workers_per_host=2, limits=limits))
    await first.frontier.add(links("a", 9))
    async with first.running(), second.running():
        await rounds(first, second, first, second)
        mine = [first.supply.take(), first.supply.take(), first.supply.take()]
        yours = [second.supply.take(), second.supply.take(), second.supply.take()]
        # Each has its part of the concurrency, and no more.
        assert [claim is None for claim in mine] == [False, False, True]
        assert [claim is None for claim in yours] == [False, False, True]


async def test_a_crawl_is_finished_for_no_worker_before_it_is_for_all() -> None:
    first, second = two_workers()
    await first.frontier.add([link("http://a/1")])
    async with first.running():
        claim = await first.taken()
        async with second.running():
            await rounds(first, second, second)
            assert not second.activity.is_finished
            first.buffer.put_link(link("http://b/1"))
            first.supply.close()
            first.end(claim)
            last = await second.taken()
            await rounds(first, second)
            assert not first.activity.is_finished
            second.end(last)
            await first.finished()
            await second.finished()


async def test_a_crawl_is_not_finished_if_something_was_added_between_two_reads() -> None:
    crawl = Crawl()
    settled: list[bool] = []

    async def somebody_crawls_a_page() -> None:
        crawl.door.after_stats = lambda: asyncio.sleep(0)
        await crawl.frontier.add([link("http://a/1")])
        (claim,) = (await crawl.frontier.claim("other", 1)).claims
        await crawl.frontier.finish([Outcome(claim.token, Ending.DONE)])

    crawl.door.after_stats = somebody_crawls_a_page
    crawl.on_round = lambda: settled.append(crawl.activity.is_settled)
    async with crawl.running():
        while True not in settled:
            await crawl.round_ended()
    assert settled[0] is False


async def test_claims_of_a_dead_worker_are_soon_reclaimed_by_an_idle_one() -> None:
    first, second = two_workers()
    await first.frontier.add([link("http://a/1")])
    await first.frontier.claim("dead", 1)
    async with second.running():
        first.clock.advance(CLAIM_MS - 1)
        await rounds(second, second)
        assert second.supply.take() is None
        first.clock.advance(1)
        second.end(await second.taken())
        await second.finished()


# Asking no more than is needed


async def test_counters_are_not_read_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 3600.0)

    crawl = Crawl()
    crawl.buffer.put_link(link("http://a/0"))
    async with crawl.running():
        for number in range(1, 5):
            while (claim := crawl.supply.take()) is None:
                await crawl.round_ended()
            crawl.buffer.put_link(link(f"http://a/{number}"))
            crawl.end(claim)
        while (claim := crawl.supply.take()) is None:
            await crawl.round_ended()
        assert crawl.door.looks == 1
        crawl.end(claim)
        while not crawl.activity.is_settled:
            await crawl.round_ended()
        assert crawl.door.looks == 3  # everything is done: it looked twice, at once


async def test_a_worker_for_whom_there_is_nothing_does_not_ask_in_every_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 3600.0)

    crawl = Crawl()
    await crawl.frontier.add(links("a", 2))
    await crawl.frontier.claim("other", 1)
    async with crawl.running():
        for _ in range(5):
            assert crawl.supply.take() is None  # in vain: the next round begins
            await crawl.round_ended()
        assert crawl.calls == ["claim 6"]
        crawl.clock.advance(3_600_000)  # as if the time were over
        crawl.supply.take()
        await crawl.round_ended()
        assert crawl.calls == ["claim 6", "claim 6"]


# Claims that are lost


async def lose(crawl: Crawl) -> None:
    """The store is away for this worker until its claims have been given to another."""
    crawl.door.is_open.clear()
    crawl.clock.advance(CLAIM_MS)
    assert await crawl.frontier.reclaim()


@asynccontextmanager
async def one_page_for_two() -> AsyncIterator[tuple[Crawl, Claim, Crawl, Claim]]:
    """Two workers and their claims of the same page; that of the first is lost."""
    first, second = two_workers()
    await first.frontier.add([link("http://a/1")])
    async with first.running():
        mine = await first.taken()
        await lose(first)
        async with second.running():
            yield first, mine, second, await second.taken()


async def test_what_comes_too_late_counts_for_the_worker_that_has_it_now() -> None:
    async with one_page_for_two() as (first, mine, second, theirs):
        first.buffer.put_outcome(Outcome(mine.token, Ending.DONE, items=3))
        first.door.is_open.set()
        await rounds(first, first)
        second.buffer.put_outcome(Outcome(theirs.token, Ending.DONE, items=3))
        await first.finished()
    assert (first.finisher.repeated_pages, first.finisher.repeated_items) == (1, 3)
    assert (second.finisher.repeated_pages, second.finisher.repeated_items) == (0, 0)


async def test_an_outcome_that_comes_too_late_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    async with one_page_for_two() as (first, mine, second, theirs):
        first.end(mine)
        first.door.is_open.set()
        await rounds(first, first)
        assert first.finisher.late == 1
        assert not first.activity.is_finished
        second.end(theirs)
        await first.finished()
        assert second.finisher.late == 0
    assert (await first.frontier.stats()).done == 1
    assert "1 outcomes came too late" in caplog.text


async def test_what_waits_is_not_sent_when_another_worker_may_have_it() -> None:
    first, second = two_workers()
    await first.frontier.add(links("a", 3))
    async with first.running():
        await first.taken()
        assert first.supply.may_take
        first.door.is_open.clear()
        first.clock.advance(CLAIM_MS * 95 // 100)  # not over yet, but soon
        assert not first.supply.may_take
        assert first.supply.take() is None
        await lose(first)
        assert first.supply.take() is None
        async with second.running():
            assert len({await second.taken(), await second.taken()}) == 2
            first.door.is_open.set()
            await rounds(first, first)
            assert first.supply.take() is None  # it knows now
            assert first.door.renewed[-1] != []


async def test_what_is_still_ours_is_sent_after_the_doubt() -> None:
    crawl = Crawl()
    await crawl.frontier.add(links("a", 3))
    async with crawl.running():
        claim = await crawl.taken()
        crawl.door.is_open.clear()
        crawl.clock.advance(2 * CLAIM_MS)  # nobody reclaimed anything
        assert not crawl.supply.may_send(claim)
        assert not crawl.supply.may_send(None)
        crawl.door.is_open.set()
        await crawl.renewals.wait(timeout_s=10)
        assert crawl.supply.may_send(claim)
        assert crawl.supply.may_send(None)
        assert crawl.supply.take() is not None


async def test_a_worker_that_was_stopped_in_a_round_does_not_give_its_own_claims_away() -> None:
    crawl = Crawl()

    def stop() -> None:
        crawl.door.before_add = nothing
        crawl.clock.advance(2 * CLAIM_MS)

    await crawl.frontier.add(links("a", 3))
    async with crawl.running():
        claim = await crawl.taken()
        crawl.door.before_add = stop
        crawl.buffer.put_link(link("http://a/new"))
        await rounds(crawl, crawl)
        assert crawl.supply.may_send(claim)
    assert (await crawl.frontier.stats()).reclaimed == 0


async def test_a_claim_in_hand_that_is_lost_is_never_sent(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        await lose(crawl)
        crawl.door.is_open.set()
        await crawl.renewals.wait(timeout_s=10)
        assert crawl.supply.may_send(None)
        assert not crawl.supply.may_send(claim)
        assert not crawl.hand.is_ours(claim)
        again = await crawl.taken()
        assert crawl.supply.may_send(again)
        crawl.supply.downloaded("a")
        crawl.returns.put_back(claim)
        crawl.end(again)
        await crawl.finished()
    assert crawl.finisher.late == 0  # it was never sent
    stats = await crawl.frontier.stats()
    assert (stats.done, stats.released) == (1, 0)
    assert "1 claims are no longer this worker's" in caplog.text


async def test_an_outcome_of_a_claim_that_is_known_to_be_lost_is_not_reported() -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        await lose(crawl)
        crawl.door.is_open.set()
        await crawl.renewals.wait(timeout_s=10)
        crawl.supply.close()
        crawl.end(claim)
        await rounds(crawl, crawl)
    assert (crawl.finisher.late, crawl.door.outcomes) == (1, [])


async def test_a_lost_claim_is_no_longer_renewed() -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        await lose(crawl)
        crawl.door.is_open.set()
        again = await crawl.taken()
        crawl.clock.advance(CLAIM_MS // 2)
        await rounds(crawl, crawl)
        assert crawl.door.renewed[-1] == [again.token] != [claim.token]


async def test_waiting_for_a_renewal_has_an_end() -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        await crawl.taken()
        crawl.door.is_open.clear()
        crawl.clock.advance(CLAIM_MS)
        await crawl.renewals.wait(timeout_s=0.01)
        assert not crawl.renewals.is_sure


async def test_a_claim_that_was_never_sent_is_given_back() -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        crawl.supply.downloaded("a")
        crawl.returns.put_back(claim)
        assert len(crawl.hand) == 0
        assert (await crawl.taken()).request == claim.request
    assert (await crawl.frontier.stats()).released == 1


async def test_what_waits_for_a_host_is_given_back_after_a_while() -> None:
    crawl = Crawl()
    await crawl.frontier.add([*links("a", 4), *links("b", 1)])
    async with crawl.running():
        claims = [await crawl.taken() for _ in range(3)]  # two of a, which has no more at a time
        crawl.returns.put_back_host("a", 3600)
        for claim in claims:
            crawl.end(claim)
        await rounds(crawl)
        stats = await crawl.frontier.stats()
        assert (stats.claimed, stats.queued, stats.released) == (2, 0, 0)
        crawl.clock.advance(3_600_000)
        again = {(await crawl.taken()).request.url for _ in range(2)}
        assert again == {"http://a/2", "http://a/3"}


async def test_hosts_that_others_send_to_are_reported_before_their_claims_can_be_taken() -> None:
    crawl = Crawl()
    await crawl.frontier.add(links("a", 1))
    await crawl.frontier.visit("other", [Visit("a", 1, waiting=1)], keep_ms=10_000)
    reported: list[str] = []
    crawl.claimer.after_shared = lambda hosts: reported.extend([*hosts, str(crawl.ready.can_send)])
    async with crawl.running():
        await crawl.taken()
    assert reported == ["a", "False"]


# When requests were sent


async def test_the_time_of_sending_is_reported_as_of_the_moment_of_finishing() -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1"), link("http://b/1")])
    crawl.sink.after_store = lambda: crawl.sent_ago_ms.update(a=5000)
    async with crawl.running():
        claims = [await crawl.taken(), await crawl.taken()]
        crawl.sent_ago_ms["a"] = 7
        crawl.buffer.put_item(item(1))
        for claim in claims:
            crawl.end(claim)
        await crawl.next_round()
    reported = {outcome.token: outcome.sent_ago_ms for outcome in crawl.door.outcomes}
    assert [reported[claim.token] for claim in claims] == [5000, None]


# Stores that go back in time


async def test_pages_under_way_are_worked_on_again_after_a_restart(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl()
    forgotten: list[bool] = []
    crawl.restarts.after_restart = lambda: forgotten.append(True)
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        crawl.door.restarts = 1
        await rounds(crawl, crawl)
        assert forgotten == [True]
        assert not crawl.hand.is_ours(claim)
        crawl.end(claim)
        again = await crawl.taken()
        assert again.request == claim.request
        crawl.end(again)
        await crawl.finished()
    stats = await crawl.frontier.stats()
    assert (stats.released, stats.done) == (1, 1)
    assert crawl.finisher.late == 0
    assert "1 requests that were in progress are fetched again" in caplog.text


async def test_a_restart_that_adding_notices_keeps_the_page_from_being_finished() -> None:
    crawl = Crawl()

    def restart() -> None:
        crawl.door.before_add = nothing
        crawl.door.restarts += 1
        crawl.end(late)  # meanwhile

    await crawl.frontier.add(links("a", 2))
    async with crawl.running():
        claim, late = await crawl.taken(), await crawl.taken()
        crawl.door.before_add = restart
        crawl.buffer.put_link(link("http://a/new"))
        crawl.end(claim)
        await rounds(crawl, crawl)
    assert (await crawl.frontier.stats()).done == 0
    assert (await crawl.frontier.stats()).released == 2


async def test_a_restart_that_finishing_notices_is_one_for_those_still_in_hand() -> None:
    crawl = Crawl()
    await crawl.frontier.add(links("a", 2))
    async with crawl.running():
        done, in_hand = await crawl.taken(), await crawl.taken()
        crawl.door.after_finish = lambda: setattr(crawl.door, "restarts", 1)
        crawl.end(done)
        await rounds(crawl, crawl)
        crawl.end(in_hand)
        await rounds(crawl, crawl)
    stats = await crawl.frontier.stats()
    assert (stats.done, stats.released) == (1, 1)


async def test_what_a_restart_kept_from_being_finished_is_worked_on_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        crawl.door.restart_before_finish()
        crawl.end(claim)
        again = await crawl.taken()
        assert again.request == claim.request
        crawl.end(again)
        await crawl.finished()
    assert (await crawl.frontier.stats()).done == 1
    assert crawl.finisher.late == 0
    assert "came too late" not in caplog.text
    assert "1 requests that were in progress are fetched again" in caplog.text


async def test_a_claim_that_a_restarted_store_has_forgotten_is_not_called_late(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        await crawl.frontier.release([claim.token])
        crawl.door.restarts = 1
        await rounds(crawl, crawl)
        crawl.end(claim)
        again = await crawl.taken()
        assert again.request == claim.request
        crawl.end(again)
        await crawl.finished()
    assert (await crawl.frontier.stats()).done == 1
    assert crawl.finisher.late == 0
    assert "came too late" not in caplog.text


async def test_what_waits_is_renewed_before_it_is_sent_after_a_restart() -> None:
    crawl = Crawl()
    sure: list[bool] = []
    await crawl.frontier.add(links("a", 3))
    async with crawl.running():
        await crawl.taken()
        await crawl.next_round()
        crawl.door.renewed.clear()
        crawl.restarts.after_restart = lambda: sure.append(crawl.supply.may_take)
        crawl.door.restarts = 1
        while not sure:
            await crawl.round_ended()
        assert await crawl.taken()
    assert sure == [False]
    assert crawl.door.renewed[0] == [1, 2, 3]


async def test_a_page_that_is_worked_on_again_leaves_its_host_the_delay() -> None:
    crawl = Crawl(Site(POLITE))
    await crawl.frontier.add([link("http://a/1")])
    async with crawl.running():
        claim = await crawl.taken()
        crawl.door.restarts = 1
        await rounds(crawl, crawl)
        crawl.clock.advance(5000)
        crawl.end(claim)
        await rounds(crawl, crawl)
        assert "release 1" not in crawl.calls
        assert not crawl.activity.is_finished
        crawl.clock.advance(CLAIM_MS // 2)
        await rounds(crawl, crawl)
        assert crawl.calls.count("release 1") == 1
        (explained,) = await crawl.frontier.explain([fingerprint("http://a/1")])
        assert explained.fetches == ()

import asyncio
from collections.abc import Callable

import pytest

from buffering import CLAIM_MS, Crawl, item, link, nothing, shorten_rounds
from weft.engine.claims import buffer, pace
from weft.errors import SinkDownError, StoreError, StoreFullError, WeftError
from weft.records import Claim, Ending, Outcome, PackedRequest
from weft.testing.waiting import until
from weft.urls import fingerprint

pytestmark = pytest.mark.timeout(20)


@pytest.fixture(autouse=True)
def _short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_rounds(monkeypatch)


async def test_what_is_put_in_comes_out_as_a_claim() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        assert claim.request == link("http://a/1")
        assert claim.owner == "me"
        assert len(crawl.hand) == 1
        crawl.end(claim)
        assert len(crawl.hand) == 0


async def test_items_are_stored_before_links_are_added_before_the_claim_is_finished() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        await crawl.next_round()
        crawl.calls.clear()
        crawl.buffer.put_link(link("http://a/2"))
        crawl.buffer.put_item(item(1))
        crawl.end(claim)
        await crawl.next_round()
    assert crawl.calls[:3] == ["store 1", "add 1", "finish 1"]
    assert crawl.calls[3].startswith("claim")
    assert crawl.sink.items == [item(1)]


async def test_what_is_put_in_during_a_round_waits_for_the_next() -> None:
    crawl = Crawl()

    def put_late() -> None:
        crawl.door.before_add = nothing
        crawl.buffer.put_link(link("http://a/3"))
        crawl.buffer.put_item(item(2))
        crawl.end(claim)

    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        await crawl.next_round()
        crawl.calls.clear()
        crawl.door.before_add = put_late
        crawl.buffer.put_link(link("http://a/2"))
        await crawl.next_round()
    calls = [call for call in crawl.calls if not call.startswith("claim")]
    # Not: add, finish. The late link and item come first.
    assert calls == ["add 1", "store 1", "add 1", "finish 1"]


async def test_crawl_is_finished_only_when_all_is_done() -> None:
    crawl = Crawl()
    assert not crawl.activity.is_finished  # no round has checked yet
    async with crawl.running():
        await crawl.next_round()
        assert crawl.activity.is_finished
        crawl.buffer.put_link(link("http://a/1"))
        assert not crawl.activity.is_finished
        claim = await crawl.taken()
        await crawl.next_round()
        assert not crawl.activity.is_finished
        crawl.end(claim)
        assert not crawl.activity.is_finished
        await crawl.next_round()
        assert crawl.activity.is_finished
        crawl.buffer.put_item(item(1))
        assert not crawl.activity.is_finished
        await crawl.next_round()
        assert crawl.activity.is_finished


async def test_what_is_put_in_while_a_round_checks_unsettles_it() -> None:
    crawl = Crawl()
    finished: list[bool] = []

    def put_late() -> None:
        crawl.door.before_add = nothing
        crawl.buffer.put_item(item(1))
        crawl.on_round = lambda: finished.append(crawl.activity.is_finished)

    crawl.door.before_add = put_late
    # Nothing is queued by this one, so that the frontier has nothing to do.
    crawl.buffer.put_link(PackedRequest(1, "http://a/1", "a", dropped_by="a rule"))
    async with crawl.running():
        while len(finished) < 2:
            await crawl.round_ended()
    assert finished[:2] == [False, True]


@pytest.mark.parametrize("error", [StoreError("broken"), StoreFullError("full")])
async def test_failing_sink_stops_the_buffer_and_leaves_the_claim_open(error: StoreError) -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        crawl.buffer.put_link(link("http://a/2"))
        claim = await crawl.taken()
        rounds = crawl.rounds_ended
        crawl.sink.error = error
        crawl.buffer.put_item(item(1))
        crawl.buffer.put_link(link("http://a/3"))
        crawl.end(claim)
        await crawl.next_round()
        assert crawl.rounds.error is error
        assert crawl.rounds_ended > rounds  # the scheduler is notified
        assert crawl.supply.take() is None
        assert not crawl.activity.is_finished
    assert "finish 1" not in crawl.calls
    assert (await crawl.frontier.stats()).claimed == 2
    (explained,) = await crawl.frontier.explain([fingerprint("http://a/3")])
    assert explained.seen_at_ms is None


async def test_failing_frontier_stops_the_buffer() -> None:
    crawl = Crawl()
    crawl.door.error = StoreFullError("full")
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        await crawl.next_round()
        assert crawl.rounds.error is crawl.door.error


async def test_bug_ends_the_crawl_instead_of_leaving_it_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl()
    crawl.door.error = ZeroDivisionError("oops")
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        await crawl.next_round()
        assert isinstance(crawl.rounds.error, WeftError)
        assert "ZeroDivisionError('oops')" in str(crawl.rounds.error)
    assert "Traceback" in caplog.text


async def test_flush_stores_what_is_left_and_releases_what_was_not_taken() -> None:
    crawl = Crawl()
    async with crawl.running():
        for number in range(5):
            crawl.buffer.put_link(link(f"http://a/{number}"))
        done, _ = await crawl.taken(), await crawl.taken()
        await crawl.next_round()
    crawl.calls.clear()
    crawl.buffer.put_item(item(1))
    crawl.buffer.put_link(link("http://a/new"))
    crawl.end(done)
    await crawl.rounds.flush()
    assert crawl.calls == ["store 1", "add 1", "finish 1", "release 3"]
    stats = await crawl.frontier.stats()
    assert (stats.queued, stats.claimed, stats.done) == (4, 1, 1)
    assert crawl.settling.stats == stats


async def test_claims_are_renewed_before_their_deadline() -> None:
    crawl = Crawl()
    async with crawl.running():
        for number in range(4):
            crawl.buffer.put_link(link(f"http://a/{number}"))
        claim = await crawl.taken()
        await crawl.next_round()
        crawl.door.renewed.clear()
        for _ in range(20):
            crawl.clock.advance(CLAIM_MS // 4)
            await crawl.next_round()
        assert (await crawl.frontier.stats()).reclaimed == 0
        # In hand and waiting alike, but not in every round.
        assert all(sorted(tokens) == [1, 2, 3, 4] for tokens in crawl.door.renewed)
        assert 9 <= len(crawl.door.renewed) <= 20
        crawl.end(claim)


async def test_claims_are_not_renewed_in_every_round() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        await crawl.taken()
        crawl.clock.advance(CLAIM_MS // 2)
        for _ in range(5):
            await crawl.next_round()
        assert crawl.door.renewed == [[], [1]]


async def test_what_others_have_left_is_taken_up(caplog: pytest.LogCaptureFixture) -> None:
    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    await crawl.frontier.claim("other", 1)
    async with crawl.running():
        await crawl.next_round()
        assert crawl.supply.take() is None
        crawl.clock.advance(CLAIM_MS)
        assert (await crawl.taken()).request.url == "http://a/1"
    assert "1 requests were left by a worker" in caplog.text


async def test_take_does_not_wait_even_for_the_first_round() -> None:
    crawl = Crawl()
    crawl.buffer.put_link(link("http://a/1"))
    assert crawl.supply.take() is None


WAKING: dict[str, Callable[[Crawl, Claim], object]] = {
    "link": lambda crawl, claim: crawl.buffer.put_link(link("http://a/2")),
    "item": lambda crawl, claim: crawl.buffer.put_item(item(1)),
    "outcome": lambda crawl, claim: crawl.buffer.put_outcome(Outcome(claim.token, Ending.DONE)),
    "end of a download": lambda crawl, claim: crawl.supply.downloaded("a"),
    "take in vain": lambda crawl, claim: crawl.supply.take(),
    "question whether all is done": lambda crawl, claim: crawl.activity.is_finished,
    "stop": lambda crawl, claim: crawl.rounds.stop(),
}


@pytest.mark.parametrize("event", WAKING)
async def test_a_round_begins_at_once_when_there_is_work(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 3600.0)

    crawl = Crawl()
    crawl.buffer.put_link(link("http://a/1"))
    rounds = asyncio.ensure_future(crawl.rounds.run())
    while (claim := crawl.supply.take()) is None:
        await crawl.round_ended()
    for _ in range(50):  # until it is asleep
        await asyncio.sleep(0)
    WAKING[event](crawl, claim)
    if event != "stop":
        await crawl.round_ended()
    crawl.rounds.stop()
    await rounds


async def test_a_round_begins_when_a_host_may_be_fetched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 3600.0)

    crawl = Crawl()
    await crawl.frontier.add([link("http://a/1")])
    (claim,) = (await crawl.frontier.claim("other", 1)).claims
    await crawl.frontier.finish([Outcome(claim.token, Ending.DONE, 200, crawl_delay_ms=20)])
    await crawl.frontier.add([link("http://a/2"), link("http://a/3")])
    async with crawl.running():
        while crawl.supply.take() is None:
            await crawl.round_ended()
        for _ in range(50):  # until it is asleep
            await asyncio.sleep(0)
        await crawl.round_ended()


async def test_claims_in_store_are_bounded_by_the_capacity() -> None:
    crawl = Crawl()
    async with crawl.running():
        for number in range(100):
            crawl.buffer.put_link(link(f"http://{number}.example/"))
        claims = [await crawl.taken() for _ in range(5)]
        await crawl.next_round()
        assert (await crawl.frontier.stats()).claimed == 6  # capacity and a half
        crawl.end(claims[0])
        await crawl.next_round()
        assert (await crawl.frontier.stats()).claimed == 6


async def test_rounds_do_not_take_it_easy_where_pages_come_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = Crawl()
    async with crawl.running():
        for number in range(100):
            crawl.buffer.put_link(link(f"http://{number}.example/"))
        claims = [await crawl.taken() for _ in range(4)]

        def end_all() -> None:
            if claims:
                monkeypatch.setattr(pace, "EASY_ROUND_S", 3.0)
            while claims:
                crawl.end(claims.pop())

        crawl.rounds.before_round = end_all
        while claims:
            await crawl.round_ended()
        monkeypatch.setattr(pace, "EASY_ROUND_S", 0.0)
        # More wait than must, but not for long: as many as have just ended, and two.
        await asyncio.wait_for(crawl.round_ended(), 2)


async def test_host_has_no_more_under_way_than_its_concurrency() -> None:
    crawl = Crawl()
    async with crawl.running():
        for number in range(5):
            crawl.buffer.put_link(link(f"http://a/{number}"))
        first = await crawl.taken()
        await crawl.taken()
        await crawl.next_round()
        assert crawl.supply.take() is None
        crawl.supply.downloaded("a")
        assert crawl.supply.take() is not None
        assert len(crawl.hand) == 3
        crawl.buffer.put_outcome(Outcome(first.token, Ending.DONE))


async def test_too_many_links_hold_requests_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer, "MAX_LINKS", 2)

    crawl = Crawl()
    async with crawl.running():
        for number in range(2):
            crawl.buffer.put_link(link(f"http://a/{number}"))
        await crawl.next_round()
        for number in range(10, 12):
            crawl.buffer.put_link(link(f"http://a/{number}"))
        assert crawl.supply.take() is not None
        crawl.buffer.put_link(link("http://a/13"))
        assert crawl.supply.take() is None
        await crawl.next_round()
        assert crawl.supply.take() is not None


async def test_a_closed_supply_takes_and_claims_no_more() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        await crawl.next_round()
        crawl.supply.close()
        assert crawl.supply.take() is None
        crawl.calls.clear()
        crawl.buffer.put_link(link("http://a/2"))
        await crawl.next_round()
    assert crawl.calls == ["add 1"]


async def test_nothing_is_taken_or_claimed_after_a_failure_elsewhere() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        await crawl.next_round()
        assert crawl.supply.may_take
        crawl.rounds.give_up(StoreError("gone"))
        assert crawl.supply.take() is None
        crawl.calls.clear()
        crawl.buffer.put_link(link("http://b/1"))
        await crawl.round_ended()
        await crawl.round_ended()
    assert crawl.calls == ["add 1"]


async def test_a_crawl_that_is_resumed_claims_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "IDLE_ROUND_S", 3600.0)

    crawl = Crawl()
    async with crawl.running():
        await crawl.round_ended()  # there is nothing to claim, so it would ask again in an hour
        crawl.supply.pause(is_paused=True)
        await crawl.round_ended()
        await crawl.frontier.add([link("http://a/1")])
        crawl.supply.pause(is_paused=False)
        await until(lambda: crawl.supply.take() is not None, "it claims", timeout_s=5)


async def test_known_links_are_counted() -> None:
    crawl = Crawl()
    async with crawl.running():
        for _ in range(3):
            crawl.buffer.put_link(link("http://a/1"))
        await crawl.next_round()
        assert crawl.storing.known == 2


# A sink that is down


async def test_claims_stay_ours_while_a_sink_is_down() -> None:
    crawl = Crawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        crawl.sink.error = SinkDownError("it is down")
        crawl.buffer.put_item(item(1))
        crawl.end(claim)
        for _ in range(10):
            crawl.clock.advance(CLAIM_MS // 3 + 1)
            crawl.door.renewed.clear()
            await until(lambda: bool(crawl.door.renewed), "the claim is renewed")
            assert claim.token in crawl.door.renewed[-1]
        assert await crawl.frontier.reclaim() == 0
        assert "finish 1" not in crawl.calls
        crawl.sink.error = None
        await crawl.finished()
    assert crawl.sink.items == [item(1)]
    assert crawl.door.outcomes[0].token == claim.token
    assert crawl.finisher.late == 0

"""The contract of `weft.frontier.base.GivesTurns` as tests; `FrontierContract` includes them."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from weft.config import HostLimits
from weft.frontier.base import Frontier, FrontierBackend
from weft.frontier.turns import PATIENCE_MS, SHARED_MS
from weft.records import Claims, Ending, Outcome, PackedRequest, Turns, Visit
from weft.testing.clock import FakeClock
from weft.urls import fingerprint

KEEP_MS = 10_000
DELAY_MS = 1_000
POLITE = HostLimits(delay_ms=DELAY_MS, concurrency=8)


async def visit(frontier: Frontier, owner: str, host: str = "a", **told: Any) -> Turns:
    """Visit one host, which allows two requests at a time unless given otherwise."""
    visits = [Visit(host, **({"concurrency": 2} | told))]
    [turns] = await frontier.visit(owner, visits, keep_ms=KEEP_MS)
    return turns


async def add(frontier: Frontier, count: int, host: str = "a") -> None:
    pages = [f"http://{host}/{i}" for i in range(count)]
    await frontier.add([PackedRequest(fingerprint(url), url, host) for url in pages])


async def finish(frontier: Frontier, claims: Claims, **told: Any) -> None:
    fields = {"ending": Ending.DONE, "status": 200} | told
    outcomes = [Outcome(claim.token, **fields) for claim in claims.claims]
    assert await frontier.finish(outcomes) == [True] * len(outcomes)


class TurnsContract:
    """Tests for the turns of every frontier."""

    clock: FakeClock

    def opened(self, **config: Any) -> AbstractAsyncContextManager[FrontierBackend]:
        raise NotImplementedError

    # One visitor

    async def test_no_visits_change_nothing(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.visit("me", [], keep_ms=KEEP_MS) == []

    async def test_turns_are_given_up_to_the_concurrency(self) -> None:
        async with self.opened() as frontier:
            assert (await visit(frontier, "me", waiting=3)).given == 2
            assert (await visit(frontier, "me", under_way=2, waiting=1)).given == 0
            assert (await visit(frontier, "me", under_way=1, waiting=1)).given == 1
            assert (await visit(frontier, "me", under_way=1, unused=1, waiting=1)).given == 0

    async def test_hosts_have_their_own_turns(self) -> None:
        async with self.opened() as frontier:
            visits = [Visit(host, concurrency=1, waiting=2) for host in ("a", "b", "c.example")]
            turns = await frontier.visit("me", visits, keep_ms=KEEP_MS)
            assert [each.given for each in turns] == [1, 1, 1]
            turns = await frontier.visit("you", visits, keep_ms=KEEP_MS)
            assert [each.given for each in turns] == [0, 0, 0]

    async def test_turns_are_a_delay_apart(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            turns = await visit(frontier, "me", waiting=2)
            assert (turns.given, turns.next_in_ms) == (1, DELAY_MS)
            turns = await visit(frontier, "me", under_way=1, waiting=1, sent_ago_ms=0)
            assert (turns.given, turns.next_in_ms) == (0, DELAY_MS)
            self.clock.advance(DELAY_MS - 1)
            turns = await visit(frontier, "me", under_way=1, waiting=1)
            assert (turns.given, turns.next_in_ms) == (0, 1)
            self.clock.advance(1)
            assert (await visit(frontier, "me", under_way=1, waiting=1)).given == 1

    async def test_the_delay_of_a_turn_counts_from_the_moment_of_sending(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            assert (await visit(frontier, "me", waiting=1)).given == 1
            self.clock.advance(5_000)
            # Nobody knows when that will be sent.
            assert (await visit(frontier, "you", waiting=1)).given == 0
            assert (await visit(frontier, "me", unused=1, waiting=1)).given == 0
            await visit(frontier, "me", under_way=1, sent_ago_ms=100)
            turns = await visit(frontier, "you", waiting=1)
            assert (turns.given, turns.next_in_ms) == (0, DELAY_MS - 100)
            self.clock.advance(DELAY_MS - 100)
            assert (await visit(frontier, "you", waiting=1)).given == 1

    async def test_a_crawl_delay_that_is_told_is_kept(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 2)
            await visit(frontier, "me", crawl_delay_ms=5_000, sent_ago_ms=0)
            assert (await frontier.claim("me", 1)).next_in_ms == 5_000
            assert (await visit(frontier, "me", waiting=1)).next_in_ms == 5_000

    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_host_that_has_had_enough_gives_no_turns(self, status: int) -> None:
        async with self.opened(backoff_ms=1_000) as frontier:
            await add(frontier, 1)
            await visit(frontier, "me", status=status)
            for _ in range(2):  # answers to requests that were under way together count once
                turns = await visit(frontier, "me", waiting=1, status=status)
                assert (turns.given, turns.next_in_ms) == (0, 1_000)
            assert (await visit(frontier, "you")).pause_ms == 1_000
            turns = await visit(frontier, "me", waiting=1, status=200)
            assert (turns.given, turns.next_in_ms) == (0, 1_000)
            claims = await frontier.claim("me", 1)
            assert (claims.claims, claims.next_in_ms) == ([], 1_000)
            self.clock.advance(1_000)
            turns = await visit(frontier, "me", waiting=1)
            assert (turns.given, turns.pause_ms) == (1, 0)
            turns = await visit(frontier, "me", waiting=1, status=status)
            assert (turns.given, turns.next_in_ms) == (0, 2_000)

    async def test_what_a_claim_is_told_holds_for_turns(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 1)
            claims = await frontier.claim("me", 1)
            await finish(frontier, claims, status=429, retry_after_ms=30_000)
            turns = await visit(frontier, "you", waiting=1)
            assert (turns.given, turns.next_in_ms) == (0, 30_000)

    async def test_the_pause_doubles_on_a_host_with_a_delay_too(self) -> None:
        async with self.opened(limits=POLITE, backoff_ms=2_000) as frontier:
            await add(frontier, 4)
            for pause_ms in (2_000, 4_000, 8_000):
                claims = await frontier.claim("me", 1)
                await finish(frontier, claims, status=429, sent_ago_ms=0)
                assert (await frontier.claim("me", 1)).next_in_ms == pause_ms
                self.clock.advance(pause_ms)

    # A worker that has claims of the host

    async def test_who_has_claims_keeps_the_delay_by_itself(self) -> None:
        """A claim that waits for its robots.txt has not been sent yet, and goes first."""

        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 2)
            assert len((await frontier.claim("me", 2)).claims) == 1
            turns = await visit(frontier, "me", concurrency=1, waiting=1)
            assert (turns.given, turns.sharing) == (1, 0)
            await visit(frontier, "me", concurrency=1, under_way=1, sent_ago_ms=0)
            self.clock.advance(400)
            await visit(frontier, "me", concurrency=1, sent_ago_ms=400)
            assert (await frontier.claim("me", 2)).next_in_ms == DELAY_MS - 400

    async def test_who_has_claims_is_given_turns_whatever_it_claimed(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 9)
            claims = await frontier.claim("me", 9)
            assert len(claims.claims) == 9
            turns = await visit(frontier, "me", concurrency=1, waiting=1)
            assert (turns.given, turns.sharing) == (1, 0)
            await finish(frontier, claims)

    async def test_who_has_claims_is_given_no_turns_within_a_pause(self) -> None:
        async with self.opened(limits=POLITE, backoff_ms=1_500) as frontier:
            await add(frontier, 2)
            await frontier.claim("me", 1)
            await visit(frontier, "me", status=503)
            assert (await visit(frontier, "me", waiting=1)).next_in_ms == 1_500

    # Several visitors

    async def test_visitors_share_the_concurrency(self) -> None:
        async with self.opened() as frontier:
            assert (await visit(frontier, "me", waiting=1)).given == 1
            assert (await visit(frontier, "you", waiting=2)).given == 1
            assert (await visit(frontier, "she", waiting=1)).given == 0
            await visit(frontier, "you")
            assert (await visit(frontier, "she", waiting=1)).given == 1

    async def test_visitors_share_the_delay(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            assert (await visit(frontier, "me", waiting=1)).given == 1
            await visit(frontier, "me", under_way=1, sent_ago_ms=0)
            assert (await visit(frontier, "you", waiting=1)).next_in_ms == DELAY_MS

    async def test_who_waits_longest_comes_first(self) -> None:
        async with self.opened() as frontier:
            assert (await visit(frontier, "me", concurrency=1, waiting=2)).given == 1
            assert (await visit(frontier, "you", concurrency=1, waiting=1)).given == 0
            self.clock.advance(10)
            # One request ends, and the next one comes at once: it is not its turn.
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 0
            assert (await visit(frontier, "you", concurrency=1, waiting=1)).given == 1
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 0
            await visit(frontier, "you", concurrency=1)
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 1

    async def test_who_waits_and_is_not_heard_of_keeps_nobody_waiting(self) -> None:
        async with self.opened() as frontier:
            await visit(frontier, "me", concurrency=1, waiting=1)
            assert (await visit(frontier, "you", concurrency=1, waiting=1)).given == 0
            self.clock.advance(PATIENCE_MS)
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 1

    async def test_a_visitor_that_died_is_forgotten_with_its_turns(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 1)
            assert (await visit(frontier, "dead", concurrency=1, waiting=1)).given == 1
            self.clock.advance(KEEP_MS - 1)
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 0
            self.clock.advance(1)
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 1

    async def test_visitors_that_died_do_not_make_claims_take_turns(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 3)
            await visit(frontier, "dead", waiting=1)
            self.clock.advance(KEEP_MS)
            claims = await frontier.claim("me", 3)
            assert (len(claims.claims), claims.shared_hosts) == (1, ())
            assert claims.next_in_ms == DELAY_MS

    # Claims and visitors

    async def test_claims_of_a_host_with_visitors_take_turns(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 1)
            await add(frontier, 1, "b")
            await visit(frontier, "you", waiting=1)
            claims = await frontier.claim("me", 2)
            assert {claim.request.host for claim in claims.claims} == {"a", "b"}
            assert claims.shared_hosts == ("a",)
            turns = await visit(frontier, "me", waiting=1)
            assert turns.given == 0
            assert turns.sharing
            told: dict[str, Any] = {"waiting": 1, "sharing": turns.sharing}
            assert (await visit(frontier, "me", **told)).given == 1
            assert (await visit(frontier, "me", under_way=1, **told)).given == 0

    async def test_own_visits_do_not_make_claims_take_turns(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 1)
            await visit(frontier, "me", waiting=1)
            assert (await frontier.claim("me", 1)).shared_hosts == ()

    async def test_nobody_is_given_a_turn_before_the_owner_knows(self) -> None:
        """The owner may have any number of requests under way."""

        async with self.opened() as frontier:
            await add(frontier, 3)
            claims = await frontier.claim("owner", 3)
            assert claims.shared_hosts == ()
            assert (await visit(frontier, "you", waiting=1)).given == 0
            # The owner hears of it, and reports what is under way.
            turns = await visit(frontier, "owner")
            assert turns.sharing
            await visit(frontier, "owner", under_way=2, sharing=turns.sharing)
            assert (await visit(frontier, "you", waiting=1)).given == 0
            await visit(frontier, "owner", under_way=1, sharing=turns.sharing)
            assert (await visit(frontier, "you", waiting=1)).given == 1
            told: dict[str, Any] = {"under_way": 1, "waiting": 1, "sharing": turns.sharing}
            assert (await visit(frontier, "owner", **told)).given == 0

    async def test_the_end_of_claims_is_not_waited_for(self) -> None:
        """Two claims that wait for side requests to each other's host would wait for ever."""

        async with self.opened(limits=POLITE) as frontier:
            for owner, host in (("me", "a"), ("you", "b")):
                await add(frontier, 1, host)
                await frontier.claim(owner, 1)
            self.clock.advance(DELAY_MS)
            for owner, other, host in (("me", "you", "b"), ("you", "me", "a")):
                assert (await visit(frontier, owner, host, waiting=1)).given == 0
                sharing = (await visit(frontier, other, host)).sharing
                await visit(frontier, other, host, sharing=sharing)
                assert (await visit(frontier, owner, host, waiting=1)).given == 1

    async def test_an_owner_that_lost_its_claims_is_not_waited_for(self) -> None:
        async with self.opened(claim_ms=1_000) as frontier:
            await add(frontier, 1)
            await frontier.claim("dead", 1)
            assert (await visit(frontier, "me", waiting=1)).given == 0
            self.clock.advance(1_000)
            await frontier.reclaim()
            assert (await visit(frontier, "me", waiting=1)).given == 1

    async def test_claims_of_a_shared_host_are_a_delay_apart_and_do_not_take_turns_from_others(
        self,
    ) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 3)
            assert (await visit(frontier, "you", waiting=1)).given == 1
            claims = await frontier.claim("me", 3)
            assert len(claims.claims) == 1
            assert claims.next_in_ms == DELAY_MS
            await visit(frontier, "you", under_way=1, sent_ago_ms=0)
            sharing = (await visit(frontier, "me", waiting=1)).sharing
            self.clock.advance(DELAY_MS)
            # The claim did not delay its turn.
            assert (await visit(frontier, "me", waiting=1, sharing=sharing)).given == 1
            assert len((await frontier.claim("me", 3)).claims) == 1

    async def test_a_claim_that_was_not_sent_takes_no_turn_back(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 3)
            claims = await frontier.claim("me", 1)
            self.clock.advance(DELAY_MS)
            assert (await visit(frontier, "you", waiting=1)).given == 0
            sharing = (await visit(frontier, "me")).sharing
            await visit(frontier, "me", sharing=sharing)
            assert (await visit(frontier, "you", waiting=1, sharing=sharing)).given == 1
            await finish(frontier, claims, is_sent=False)
            told: dict[str, Any] = {"under_way": 1, "waiting": 1, "sharing": sharing}
            assert (await visit(frontier, "you", **told)).next_in_ms == DELAY_MS

    async def test_a_claim_of_a_shared_host_that_was_not_sent_costs_no_delay(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 3)
            await visit(frontier, "you", waiting=1)
            claims = await frontier.claim("me", 3)
            assert (len(claims.claims), claims.next_in_ms) == (1, DELAY_MS)
            await finish(frontier, claims, is_sent=False)
            assert len((await frontier.claim("me", 3)).claims) == 1

    async def test_claims_are_not_handed_out_within_a_pause_that_a_visitor_was_asked_for(
        self,
    ) -> None:
        async with self.opened() as frontier:
            await add(frontier, 1)
            await visit(frontier, "you", under_way=1, status=429, retry_after_ms=30_000)
            assert (await frontier.claim("me", 1)).next_in_ms == 30_000

    async def test_a_host_is_not_shared_any_more_when_only_one_has_come_for_a_while(self) -> None:
        async with self.opened() as frontier:
            await add(frontier, 1)
            claims = await frontier.claim("owner", 1)
            await visit(frontier, "you", waiting=1)
            sharing = (await visit(frontier, "owner")).sharing
            assert (await visit(frontier, "owner", sharing=sharing)).sharing == sharing
            assert (await visit(frontier, "you", waiting=1)).given == 1
            await visit(frontier, "you")
            self.clock.advance(SHARED_MS - 1)
            assert (await visit(frontier, "owner", sharing=sharing)).sharing == sharing
            assert (await visit(frontier, "you", sharing=sharing)).sharing == sharing
            self.clock.advance(1)
            assert (await visit(frontier, "you", sharing=sharing)).sharing == 0
            assert (await visit(frontier, "owner", sharing=sharing)).sharing == 0
            # Next time it has another number: what was known of the last one is void.
            turns = await visit(frontier, "you", waiting=1)
            assert turns.given == 0
            assert turns.sharing not in (0, sharing)
            await finish(frontier, claims)

    # Repeating and forgetting

    async def test_a_visit_can_be_made_twice(self) -> None:
        async with self.opened() as frontier:
            for _ in range(2):
                assert (await visit(frontier, "me", waiting=2)).given == 2
            assert (await visit(frontier, "you", waiting=1)).given == 0

    async def test_clearing_forgets_visitors(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await visit(frontier, "dead", concurrency=1, waiting=1)
            await frontier.clear()
            assert (await visit(frontier, "me", concurrency=1, waiting=1)).given == 1

    async def test_the_delay_after_a_turn_is_kept_when_visitors_have_left(self) -> None:
        async with self.opened(limits=POLITE) as frontier:
            await add(frontier, 1)
            await visit(frontier, "me", waiting=1)
            await visit(frontier, "me", sent_ago_ms=0)
            claims = await frontier.claim("you", 1)
            assert (claims.claims, claims.next_in_ms) == ([], DELAY_MS)

"""Claims: handed out once, renewed, ended, taken back."""

from weft.config import HostLimits
from weft.testing.frontier_contract.making import MINUTE_MS, done, requests, tokens, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class ClaimsContract(FrontierSuite):
    """Tests for `claim`, `renew`, `finish`, `release` and `reclaim`."""

    async def test_a_claimed_request_is_not_handed_out_again(self) -> None:
        async with self.opened(workers_per_host=2) as frontier:
            await frontier.add(requests(3))
            mine = (await frontier.claim("me", 2)).claims
            yours = (await frontier.claim("you", 2)).claims
            assert len({*urls(mine), *urls(yours)}) == 3
            assert len({*tokens(mine), *tokens(yours)}) == 3

    async def test_an_overdue_claim_is_given_to_another(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add(requests(1))
            [old] = (await frontier.claim("me", 1)).claims
            self.clock.advance(2 * MINUTE_MS - 1)
            assert await frontier.reclaim() == 0
            self.clock.advance(1)
            assert await frontier.reclaim() == 1
            [new] = (await frontier.claim("you", 1)).claims
            assert (new.request, new.owner) == (old.request, "you")
            assert new.token != old.token
            # Too late: the outcome of the first owner no longer counts.
            assert await frontier.finish(done([old])) == [False]
            assert await frontier.renew("me", [old.token]) == [False]
            assert await frontier.release([old.token]) == [False]
            stats = await frontier.stats()
            assert (stats.stale, stats.claimed, stats.done) == (3, 1, 0)
            assert await frontier.finish(done([new])) == [True]

    async def test_what_is_stale_counts_as_often_as_it_comes(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(2))
            [one, two] = tokens((await frontier.claim("me", 2)).claims)
            await frontier.renew("me", [one])
            self.clock.advance(2 * MINUTE_MS - 1)
            await frontier.renew("me", [one])
            self.clock.advance(1)
            await frontier.reclaim()
            answers = await frontier.renew("me", [two, one, two, one])
            assert answers == [False, True, False, True]
            assert (await frontier.stats()).stale == 2
            assert await frontier.release([one, one]) == [True, True]
            assert (await frontier.stats()).stale == 3

    async def test_a_renewed_claim_is_not_overdue(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add([*requests(1, "a"), *requests(1, "b")])
            [kept] = (await frontier.claim("me", 1)).claims
            [lost] = (await frontier.claim("you", 1)).claims
            self.clock.advance(MINUTE_MS)
            assert await frontier.renew("me", [kept.token]) == [True]
            self.clock.advance(MINUTE_MS)
            assert await frontier.reclaim() == 1
            assert await frontier.finish(done([kept, lost])) == [True, False]

    async def test_a_claim_of_another_is_neither_renewed_nor_put_back(self) -> None:
        async with self.opened(claim_ms=2 * MINUTE_MS) as frontier:
            await frontier.add([*requests(2, "a"), *requests(2, "b")])
            mine = (await frontier.claim("me", 1)).claims
            theirs = (await frontier.claim("you", 1)).claims
            self.clock.advance(MINUTE_MS)
            assert await frontier.renew("me", tokens([*mine, *theirs])) == [True, False]
            self.clock.advance(MINUTE_MS)
            assert await frontier.reclaim() == 1
            assert await frontier.finish(done([*mine, *theirs])) == [True, False]

    async def test_what_its_owner_does_not_know_of_is_put_back(self) -> None:
        limits = HostLimits(delay_ms=2_000, concurrency=1)
        async with self.opened(limits_by_host={"slow": limits}) as frontier:
            await frontier.add([*requests(4, "quick"), *requests(2, "slow")])
            claims = (await frontier.claim("me", 10)).claims
            assert len(claims) == 5
            [slow] = [claim for claim in claims if claim.request.host == "slow"]
            [quick, *known] = [claim for claim in claims if claim.request.host == "quick"]
            self.clock.advance(1_000)
            assert await frontier.renew("me", tokens(known)) == [True] * 3
            stats = await frontier.stats()
            assert (stats.claimed, stats.queued, stats.reclaimed) == (3, 3, 2)
            assert await frontier.finish(done([*known, quick, slow])) == [True] * 3 + [False] * 2
            # They may have been sent: the delay of a host starts now.
            assert urls((await frontier.claim("me", 10)).claims) == [quick.request.url]
            self.clock.advance(1_999)
            assert (await frontier.claim("me", 10)).claims == []
            self.clock.advance(1)
            assert urls((await frontier.claim("me", 10)).claims) == [slow.request.url]

    async def test_an_owner_that_knows_of_nothing_has_nothing(self) -> None:
        async with self.opened() as frontier:
            await frontier.add([*requests(5, "a"), *requests(5, "b")])
            claims = (await frontier.claim("me", 10)).claims
            assert await frontier.renew("me", []) == []
            again = (await frontier.claim("me", 10)).claims
            assert urls(again) == urls(claims)
            assert not {*tokens(again)} & {*tokens(claims)}

"""What is added, and what is known already."""

import pytest

from weft.records import AddStatus, Ending, PageKind
from weft.testing.frontier_contract.making import HOUR_MS, done, request, requests, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class AddingContract(FrontierSuite):
    """Tests for `add` and `learn`."""

    @pytest.mark.parametrize("count", [1, 2, 3, 1000])
    async def test_what_is_added_is_claimed(self, count: int) -> None:
        async with self.opened() as frontier:
            added = requests(count)
            assert await frontier.add(added) == [AddStatus.QUEUED] * count
            claims = (await frontier.claim("me", count + 1)).claims
            assert [claim.request for claim in claims] == added
            assert all(claim.owner == "me" for claim in claims)

    async def test_an_empty_batch_changes_nothing(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.add([]) == []
            assert await frontier.finish([]) == []
            assert await frontier.renew("me", []) == []
            assert await frontier.release([]) == []
            claims = await frontier.claim("me", 10)
            assert claims.claims == []
            assert claims.next_in_ms is None

    async def test_a_request_comes_back_as_it_was(self) -> None:
        async with self.opened() as frontier:
            given = request(
                "http://a/ü?x=中",
                kind=PageKind.NAV,
                priority=-7,
                payload=bytes(range(256)),
                found_on=5,
                is_forced=True,
            )
            await frontier.add([given])
            [claim] = (await frontier.claim("me", 1)).claims
            assert claim.request == given

    async def test_known_requests_are_not_queued_again(self) -> None:
        async with self.opened() as frontier:
            [one, two] = requests(2)
            statuses = await frontier.add([one, one, two])
            assert statuses == [AddStatus.QUEUED, AddStatus.KNOWN, AddStatus.QUEUED]
            assert await frontier.add([two]) == [AddStatus.KNOWN]
            claims = (await frontier.claim("me", 10)).claims
            await frontier.finish(done(claims))
            assert await frontier.add([one]) == [AddStatus.KNOWN]
            assert (await frontier.claim("me", 10)).claims == []
            stats = await frontier.stats()
            assert (stats.added, stats.known) == (2, 3)

    async def test_a_forced_request_is_queued_though_known(self) -> None:
        async with self.opened() as frontier:
            again = request("http://a/", is_forced=True)
            statuses = await frontier.add([request("http://a/"), again, again])
            assert statuses == [AddStatus.QUEUED] * 3
            assert len((await frontier.claim("me", 10)).claims) == 3

    async def test_what_was_fetched_elsewhere_is_known(self) -> None:
        async with self.opened() as frontier:
            [queued, fetched, other, forced] = requests(4)
            await frontier.add([queued])
            learned = [queued, fetched, forced]
            for _ in range(2):  # it may be repeated
                await frontier.learn([r.fingerprint for r in learned])
            dropped = request(fetched.url, dropped_by="rule")
            again = request(forced.url, is_forced=True)
            statuses = await frontier.add([queued, fetched, dropped, other, again])
            known, new = AddStatus.KNOWN, AddStatus.QUEUED
            assert statuses == [known, known, known, new, new]
            stats = await frontier.stats()
            assert (stats.known, stats.added, stats.dropped) == (3, 3, 0)
            [told] = await frontier.explain([fetched.fingerprint])
            assert (told.kind, told.fetches) == (PageKind.DATA, ())
            claims = (await frontier.claim("me", 9)).claims
            assert urls(claims) == [r.url for r in (queued, other, forced)]

    async def test_what_was_learned_and_fails_is_bad_like_any_other(self) -> None:
        async with self.opened(bad_url_ms=HOUR_MS) as frontier:
            page = request("http://a/")
            await frontier.learn([page.fingerprint])
            await frontier.add([request(page.url, is_forced=True)])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0))
            assert await frontier.add([page]) == [AddStatus.BAD]
            self.clock.advance(HOUR_MS)
            assert await frontier.add([page]) == [AddStatus.QUEUED]

    @pytest.mark.parametrize("count", [0, 1, 3000])
    async def test_any_number_of_fingerprints_can_be_learned(self, count: int) -> None:
        async with self.opened() as frontier:
            known = requests(count)
            await frontier.learn([r.fingerprint for r in known])
            assert await frontier.add(known) == [AddStatus.KNOWN] * count
            assert await frontier.add(requests(2, "b")) == [AddStatus.QUEUED] * 2

    async def test_what_was_learned_is_forgotten_like_data(self) -> None:
        async with self.opened() as frontier:
            known = requests(300)
            await frontier.learn([r.fingerprint for r in known])
            await frontier.clear(PageKind.NAV)
            assert await frontier.add(known) == [AddStatus.KNOWN] * 300
            await frontier.clear(PageKind.DATA)
            assert await frontier.add(known[:9]) == [AddStatus.QUEUED] * 9
            await frontier.learn([r.fingerprint for r in known])
            await frontier.clear()
            assert await frontier.add(known[9:]) == [AddStatus.QUEUED] * 291
            await frontier.learn([r.fingerprint for r in known])
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.add(known) == [AddStatus.QUEUED] * 300

    async def test_a_dropped_request_is_remembered_and_not_queued(self) -> None:
        async with self.opened() as frontier:
            drop = request("http://a/deep", dropped_by="depth limit 3")
            assert await frontier.add([drop, drop]) == [AddStatus.DROPPED] * 2
            assert (await frontier.claim("me", 10)).claims == []
            assert (await frontier.stats()).dropped == 1
            [told] = await frontier.explain([drop.fingerprint])
            assert (told.dropped_by, told.url) == ("depth limit 3", "http://a/deep")
            # Found again on a shorter path, it is queued.
            assert await frontier.add([request("http://a/deep")]) == [AddStatus.QUEUED]
            assert await frontier.add([drop]) == [AddStatus.KNOWN]
            [told] = await frontier.explain([drop.fingerprint])
            assert told.dropped_by == ""

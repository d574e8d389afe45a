"""Hosts: those that are bad, and the keys of their names."""

import pytest

from weft.config import SharedConfig
from weft.records import AddStatus, Ending, HostKey, PageKind
from weft.testing.frontier_contract.making import HOUR_MS, done, request, requests, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class BadContract(FrontierSuite):
    """Tests for URLs that fail and hosts that do not exist."""

    async def test_a_failed_url_is_taken_again_after_its_time(self) -> None:
        async with self.opened(bad_url_ms=HOUR_MS) as frontier:
            [one] = requests(1)
            await frontier.add([one])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=404))
            assert await frontier.add([one]) == [AddStatus.BAD]
            self.clock.advance(HOUR_MS)
            assert await frontier.add([one]) == [AddStatus.QUEUED]
            assert await frontier.add([one]) == [AddStatus.KNOWN]
            assert (await frontier.stats()).skipped_bad == 1

    async def test_requests_of_a_bad_host_are_kept_until_its_time(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            await frontier.add(requests(3, "nowhere"))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            assert (await frontier.claim("me", 9)).claims == []
            await frontier.add([request("http://nowhere/late")])
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.pending) == (4, 4, 0)
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == [
                *(f"http://nowhere/{i}" for i in range(3)),
                "http://nowhere/late",
            ]
            stats = await frontier.stats()
            assert (stats.held, stats.pending) == (0, 4)

    async def test_several_hosts_may_turn_out_bad_at_once(self) -> None:
        async with self.opened() as frontier:
            await frontier.add([*requests(1, "a"), *requests(2, "b"), *requests(2, "c")])
            claims = (await frontier.claim("me", 9)).claims
            bad = [claim for claim in claims if claim.request.host != "a"]
            outcomes = done(bad, ending=Ending.FAILED, status=0, is_host_bad=True)
            assert await frontier.finish(outcomes) == [True] * 4
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.claimed) == (4, 4, 1)
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == sorted(urls(bad))

    async def test_a_host_that_does_not_exist_holds_up_no_other_of_its_host_key(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            gone, there = (
                [request(f"http://{name}.example/{i}", host="example") for i in range(2)]
                for name in ("gone", "www")
            )
            await frontier.add([*gone, *there])
            claims = (await frontier.claim("me", 2)).claims
            outcomes = done(claims, ending=Ending.FAILED, status=0, is_host_bad=True)
            assert await frontier.finish(outcomes) == [True, True]
            stats = await frontier.stats()
            assert (stats.queued, stats.held, stats.pending) == (4, 2, 2)
            rest = (await frontier.claim("me", 9)).claims
            assert [claim.request for claim in rest] == there
            await frontier.finish(done(rest))
            assert (await frontier.stats()).pending == 0
            self.clock.advance(HOUR_MS)
            again = (await frontier.claim("me", 9)).claims
            assert sorted(urls(again)) == sorted(urls(claims))
            assert {claim.request.host for claim in again} == {"gone.example"}
            await frontier.finish(done(again))
            assert await frontier.add([*gone, *there]) == [AddStatus.KNOWN] * 4

    async def test_a_host_name_that_begins_like_its_key_keeps_its_url(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            given = request("http://a.b.example/", host="a")
            await frontier.add([given])
            claims = (await frontier.claim("me", 1)).claims
            assert [claim.request for claim in claims] == [given]
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            self.clock.advance(HOUR_MS)
            assert urls((await frontier.claim("me", 1)).claims) == [given.url]

    async def test_a_bad_host_of_a_host_key_is_explained(self) -> None:
        async with self.opened(bad_host_ms=HOUR_MS) as frontier:
            gone = request("http://gone.example/", host="example")
            await frontier.add([gone])
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims, ending=Ending.FAILED, status=0, is_host_bad=True))
            [told] = await frontier.explain([gone.fingerprint])
            assert told.url == gone.url
            assert told.host is not None
            assert (told.host.host, told.host.queued) == ("gone.example", 1)
            assert told.host.bad_until_ms == self.clock.now_ms() + HOUR_MS


class HostKeysContract(FrontierSuite):
    """Tests for `fix_keys` and the host key of a job."""

    async def test_the_first_key_that_a_host_name_gets_is_kept(self) -> None:
        async with self.opened() as frontier:
            assert await frontier.fix_keys([("a", ""), ("b", "")]) == ["", ""]
            assert await frontier.fix_keys([("a", "1"), ("b", "1"), ("a", "2")]) == ["1", "1", "1"]
            assert await frontier.fix_keys([("a", "3"), ("c", ""), ("ü", "4")]) == ["1", "", "4"]
            assert await frontier.fix_keys([]) == []

    async def test_keys_of_host_names_are_forgotten_with_everything(self) -> None:
        async with self.opened() as frontier:
            await frontier.add(requests(1))
            await frontier.fix_keys([("a", "1")])
            await frontier.clear(PageKind.DATA)
            assert await frontier.fix_keys([("a", "2")]) == ["1"]
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert await frontier.fix_keys([("a", "3")]) == ["3"]
            await frontier.clear()
            assert await frontier.fix_keys([("a", "4")]) == ["4"]

    async def test_keys_of_host_names_outlive_a_process(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")
        async with self.opened() as frontier:
            await frontier.fix_keys([("a", "1")])
        async with self.opened() as frontier:
            assert await frontier.fix_keys([("a", "2")]) == ["1"]

    async def test_a_job_keeps_the_host_key_that_it_was_begun_with(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")
        async with self.opened(shared=SharedConfig(host_key=HostKey.DOMAIN)) as frontier:
            assert str(frontier.host_key) == "domain"
            await frontier.add(requests(1))
        async with self.opened(shared=SharedConfig(host_key=HostKey.IP)) as frontier:
            await frontier.begin(is_fresh=False, is_rerun=False)
            assert str(frontier.host_key) == "domain"
            await frontier.begin(is_fresh=True, is_rerun=False)
            assert str(frontier.host_key) == "ip"
            await frontier.add(requests(1))
        async with self.opened() as frontier:
            assert str(frontier.host_key) == "ip"

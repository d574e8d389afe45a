"""What outlives a process."""

import pytest

from weft.config import HostLimits
from weft.records import AddStatus
from weft.testing.frontier_contract.making import done, request, requests, urls
from weft.testing.frontier_contract.suite import FrontierSuite


class SurvivingContract(FrontierSuite):
    """Tests for a frontier that is opened again."""

    async def test_state_survives_closing(self) -> None:
        if not self.SURVIVES_REOPEN:
            pytest.skip("this backend forgets when it is closed")

        slow = HostLimits(delay_ms=10_000, concurrency=3)
        async with self.opened(limits=slow) as frontier:
            await frontier.add(requests(5))
            claims = (await frontier.claim("me", 1)).claims
            await frontier.finish(done(claims))
            self.clock.advance(1)
            before = await frontier.stats()
            hours = await frontier.hours()
            await frontier.learn([7])
        async with self.opened(limits=slow) as frontier:
            assert await frontier.stats() == before
            assert len(await frontier.hours()) == 1
            assert await frontier.hours() == hours
            assert await frontier.add([request("http://b/", fingerprint=7)]) == [AddStatus.KNOWN]
            assert await frontier.add(requests(5)) == [AddStatus.KNOWN] * 5
            # The host is still within its delay.
            assert (await frontier.claim("me", 1)).claims == []
            self.clock.advance(9_999)
            assert urls((await frontier.claim("me", 1)).claims) == ["http://a/1"]

    async def test_claims_of_a_dead_owner_come_back_when_the_store_is_opened(self) -> None:
        if not self.RECLAIMS_AT_OPEN:
            pytest.skip("this backend waits for the deadline")

        async with self.opened() as frontier:
            await frontier.add(requests(5))
            first = (await frontier.claim("me", 3)).claims
        async with self.opened() as frontier:
            again = (await frontier.claim("me", 3)).claims
            assert urls(again) == urls(first)
            assert (await frontier.stats()).reclaimed == 3

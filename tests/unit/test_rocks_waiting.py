"""Pages that wait in an embedded frontier: stores that were made before there were any."""

from pathlib import Path

from rocksdict import Rdict

from weft.frontier import RocksFrontier
from weft.frontier.rocks import layout
from weft.records import Ending, Outcome, PackedRequest
from weft.testing import FakeClock

PAGE = PackedRequest(1, "http://a/1", "a")


async def make_older_store(path: Path, clock: FakeClock) -> None:
    """With one request, and without a place for pages that wait."""
    async with RocksFrontier(path, clock=clock) as frontier:
        await frontier.add([PAGE])
    store = Rdict(str(path), layout.rocks_options(), layout.family_options())
    store.drop_column_family(layout.WAITING)
    store.close()


async def test_a_store_of_an_older_weft_can_be_read(tmp_path: Path) -> None:
    await make_older_store(tmp_path, FakeClock())
    for _ in range(2):  # and stays as it is
        async with RocksFrontier(tmp_path, is_read_only=True) as frontier:
            assert (await frontier.stats()).queued == 1
            [told] = await frontier.explain([PAGE.fingerprint])
            assert (told.url, told.due_at_ms) == (PAGE.url, 0)
    assert layout.WAITING not in Rdict.list_cf(str(tmp_path), layout.rocks_options())


async def test_pages_can_wait_in_a_store_of_an_older_weft(tmp_path: Path) -> None:
    clock = FakeClock()
    await make_older_store(tmp_path, clock)
    async with RocksFrontier(tmp_path, clock=clock) as frontier:
        [claim] = (await frontier.claim("me", 1)).claims
        assert await frontier.finish([Outcome(claim.token, Ending.DONE, due_in_ms=5_000)])
        assert (await frontier.claim("me", 1)).next_in_ms == 5_000
    async with RocksFrontier(tmp_path, clock=clock) as frontier:
        clock.advance(5_000)
        assert [c.request for c in (await frontier.claim("me", 1)).claims] == [PAGE]

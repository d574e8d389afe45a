"""The first thing to read: what Weft does, one idea at a time."""

from pathlib import Path

from running import Weft
from weft.frontier import RocksFrontier
from weft.records import AddStatus, Ending, Outcome
from weft.sinks import KeyedItem, SinkConfig, make_sink
from weft.testing import Site, SiteServer
from weft.testing.frontier_contract import request


async def test_a_request_is_added_claimed_and_finished(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path) as frontier:
        page = request("http://example.org/")
        assert await frontier.add([page]) == [AddStatus.QUEUED]
        [claim] = (await frontier.claim("this worker", 10)).claims
        assert claim.request == page
        await frontier.finish([Outcome(claim.token, Ending.DONE, status=200)])
        assert (await frontier.stats()).pending == 0
        assert await frontier.add([page]) == [AddStatus.KNOWN]


async def test_a_claim_that_is_not_finished_comes_back(tmp_path: Path) -> None:
    async with RocksFrontier(tmp_path) as frontier:
        await frontier.add([request("http://example.org/")])
        await frontier.claim("a worker that dies", 1)
    async with RocksFrontier(tmp_path) as frontier:
        [claim] = (await frontier.claim("another worker", 1)).claims
        assert claim.request.url == "http://example.org/"


async def test_an_item_is_stored_once_however_often_it_arrives(tmp_path: Path) -> None:
    sink = make_sink(str(tmp_path / "items.jsonl"), SinkConfig(tmp_path))
    await sink.open()
    item = KeyedItem(key=b"0123456789abcdef", fields={"title": "Weft"})
    await sink.store([item])
    await sink.store([item])
    await sink.close()
    assert (tmp_path / "items.jsonl").read_text() == '{"title":"Weft"}\n'


def test_a_site_is_crawled_with_one_command(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=30)) as server:
        assert weft("crawl", server.url, "-o", "pages.jsonl").returncode == 0
        told = weft("frontier", "explain", server.url + "p/1.html").stdout
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) == 30
    assert "status 200" in told

"""A job that is started, watched and steered over the API, on a real node."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet import Fleet
from launchers.redis import RedisServer
from masters import Asker, MasterProcess, asking, check_problem, contents
from running import Weft
from weft.cluster.jobs import Jobs
from weft.cluster.status import Work
from weft.redis.client import Client
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until


@pytest.fixture
def fleet(weft: Weft, redis_server: RedisServer) -> Fleet:
    return Fleet(weft, redis_server.url)


@pytest.fixture
def endless() -> Iterator[SiteServer]:
    """More pages than a test can crawl."""
    with SiteServer(Site(pages=5_000)) as server:
        yield server


def test_a_job_lives_through_the_api(ask: Asker, fleet: Fleet, endless: SiteServer) -> None:
    url = endless.url
    start = {"targets": [url], "job": "it", "delay": 0.02, "settings": {"DEPTH_LIMIT": 50}}
    assert ask.get("/jobs") == {"items": [], "next": None}
    check_problem(ask("GET", "/jobs/it"), 404)
    check_problem(ask("GET", "/jobs/it/frontier"), 404)
    with fleet.node("n1", "--processes", "1"):
        started = ask("POST", "/jobs", json=start)
        assert started.json() == {"name": "it", "nodes": 1, "begun": 1, "failures": {}}
        wait_until(lambda: ask.get("/jobs/it")["done"] > 5, description="pages are crawled")

        assert ask("POST", "/jobs/it/pause").json() == {"workers": 1}
        row = ask.get("/jobs/it")
        assert (row["state"], row["workers"]) == ("paused", 1)
        assert ask.get("/jobs")["items"] == [row]
        assert [row] == fleet.look("jobs")

        frontier = ask.get("/jobs/it/frontier")
        assert frontier["stats"]["done"] == row["done"]
        assert not frontier["is_finished"]
        [host] = ask.get("/jobs/it/frontier/hosts")["items"]
        assert host["queued"] == frontier["stats"]["queued_nav"] + frontier["stats"]["queued_data"]
        told = ask.get("/jobs/it/frontier/url", url=url)
        assert told["url"] == url
        assert [fetch["ending"] for fetch in told["fetches"]] == ["done"]
        check_problem(ask("GET", "/jobs/it/frontier/url", params={"url": "what"}), 422)
        for by in ("day", "hour"):
            periods = ask.get("/jobs/it/stats", by=by)
            assert periods["items"][0]["pages"] == periods["total"]["pages"] == row["done"]

        [node] = ask.get("/nodes")["items"]
        assert (node["name"], node["state"], node["jobs"]["it"]["state"]) == (
            *("n1", "running", "running"),
        )
        [worker] = ask.get("/workers")["items"]
        assert (worker["job"], worker["node"], worker["state"]) == ("it", "n1", "paused")

        assert ask("POST", "/jobs/it/resume").json() == {"name": "it", "workers": 1, "nodes": 1}
        assert ask.status("POST", "/jobs/it/stop") == 204
        row = ask.get("/jobs/it")
        assert (row["state"], row["workers"]) == ("stopped", 0)

        for verb, state in (("drain", "drained"), ("resume", "running")):
            steered = ask("POST", f"/nodes/n1/{verb}").json()
            assert (steered["has_obeyed"], steered["node"]["state"]) == (True, state)
        assert ask("POST", "/nodes/n1/stop").json()["has_obeyed"]
        assert ask.get("/nodes")["items"] == []
        check_problem(ask("POST", "/nodes/n1/drain"), 404)

    assert ask.status("DELETE", "/jobs/it/frontier/nav") == 204
    assert ask.get("/jobs/it/frontier")["stats"]["queued_nav"] == 0
    check_problem(ask("DELETE", "/jobs/it/frontier/some"), 422)
    assert ask.status("DELETE", "/jobs/it/frontier/all") == 204
    check_problem(ask("GET", "/jobs/it/frontier"), 404)
    check_problem(ask("DELETE", "/jobs/it/frontier/all"), 404)


def test_boards_that_were_put_are_crawled(ask: Asker, fleet: Fleet, endless: SiteServer) -> None:
    board = {"name": "news", "entries": [endless.url], "limits": {"pages": 5}}
    check_problem(ask("POST", "/jobs", json={"targets": ["boards"]}), 400)
    assert ask("PUT", "/jobs/boards/boards/news", json=board).status_code == 201
    with fleet.node("n1", "--processes", "1"):
        assert ask("POST", "/jobs", json={"targets": ["boards"]}).json()["begun"] == 1
        wait_until(
            lambda: ask.get("/jobs/boards/boards/news")["counts"].get("pages", 0) > 0,
            description="a page was fetched",
        )
        assert ask.get("/jobs/boards/boards")["items"][0]["pages"] > 0


def test_a_finished_crawl_is_not_started_again(
    ask: Asker,
    fleet: Fleet,
    site: SiteServer,
    running_master: MasterProcess,
    tokens: dict[str, str],
) -> None:
    start = {"targets": [site.url], "job": "it"}
    with fleet.node("n1", "--processes", "1"):
        ask("POST", "/jobs", json=start)
        wait_until(lambda: ask.get("/jobs/it")["state"] == "finished", description="it is finished")
        told = check_problem(ask("POST", "/jobs", json=start), 409)
        assert "fresh" in told["detail"]
        with asking(running_master.address, tokens["write"]) as writer:
            check_problem(writer("POST", "/jobs", json=start | {"fresh": True}), 403)
        before = len(site.hits())
        assert ask("POST", "/jobs", json=start | {"fresh": True}).json()["begun"] == 1
        wait_until(lambda: len(site.hits()) > before, description="it is crawled again")


@pytest.mark.parametrize(
    ("start", "status"),
    [
        ({"targets": ["news.yaml"]}, 422),
        ({"targets": ["spider.py"]}, 422),
        ({"targets": ["no_spider"]}, 422),
        ({"targets": ["https://"]}, 422),
        ({"targets": ["https://a.example/"], "settings": {"WEFT_ORDER": "none"}}, 400),
        ({"targets": ["https://a.example/"], "settings": {"WEFT_ENABLED": ""}}, 422),
        ({"targets": ["https://a.example/"], "output": ["what"]}, 400),
        ({"targets": ["https://a.example/"], "arguments": {"a": "b"}}, 400),
        ({"targets": ["https://a.example/"], "settings": {"WEFT_STORE": "rocks:///x"}}, 200),
    ],
)
def test_what_cannot_be_started_is_told(
    ask: Asker, start: dict[str, object], status: int, tmp_path: Path
) -> None:
    """A file of the master is none of the client's. Its store cannot be chosen."""
    for name in ("news.yaml", "spider.py"):
        (tmp_path / name).write_text("print('imported', file=open('imported', 'w'))")
    answer = ask("POST", "/jobs", json=start)
    if status == 200:
        assert answer.status_code == 200
    else:
        check_problem(answer, status)
        assert ask.get("/jobs")["items"] == []
    assert not (tmp_path / "imported").exists()


def test_jobs_are_listed_in_pages(ask: Asker, redis_server: RedisServer) -> None:
    async def start_many() -> None:
        async with Client(redis_server.url) as client:
            for number in range(25):
                await Jobs(client).start(f"job-{number:02}", Work(("x",), {}, {}, "INFO"))

    asyncio.run(start_many())
    pages = ask.pages("/jobs", limit=10)
    assert [len(page) for page in pages] == [10, 10, 5]
    names = [row["name"] for page in pages for row in page]
    assert names == [f"job-{number:02}" for number in range(25)]


def test_changes_are_written_down(
    ask: Asker, running_master: MasterProcess, tokens: dict[str, str], redis_server: RedisServer
) -> None:
    secret = "gUmMi-bAum"
    start = {
        "targets": ["https://example.org/"],
        "job": "it",
        "output": [f"mongodb://u:{secret}@db.example/d/c"],
    }
    with asking(running_master.address, tokens["write"]) as writer:
        assert writer("POST", "/jobs", json=start).status_code == 200
        writer("POST", "/jobs/none/stop", params={"token": secret})
        host = {"Host": "example.org/elsewhere?"}
        writer("POST", "/jobs/a%3Fb%0Ac/pause", headers=host)
        check_problem(writer("GET", "/audit"), 403)
    ask.get("/jobs")
    strange, last, first = ask.get("/audit")["items"]
    assert strange["what"] == "POST /api/v1/jobs/a%3Fb%0Ac/pause"
    assert first | {"at_ms": 0} == {
        "number": 1,
        "at_ms": 0,
        "token": "write",
        "what": "POST /api/v1/jobs",
        "status": 200,
        "job": "it",
    }
    assert (last["number"], last["what"], last["status"]) == (2, "POST /api/v1/jobs/none/stop", 404)
    assert ask.pages("/audit", limit=1) == [[strange], [last], [first]]
    assert secret not in contents(redis_server)["weft:audit"]
    answers = [ask("GET", path).text for path in ("/jobs", "/jobs/it", "/audit", "/workers")]
    assert secret not in json.dumps(answers)

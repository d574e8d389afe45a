"""Crawls whose pages need a browser."""

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from browser.browserkit import browsers_of, driver_of, is_alive
from rawserver import RawServer
from running import Weft
from weft.testing import wait_until

SPIDER = str(Path(__file__).with_name("appspider.py"))
ARTICLES = [*(f"/article?{n}" for n in range(1, 7)), "/article?old"]


def words(app: RawServer, paths: str, **settings: Any) -> list[str]:
    settings = {"ROBOTSTXT_OBEY": True, **settings}
    options = [f"-s{name}={value}" for name, value in settings.items()]
    start = ["crawl", SPIDER, "-a", f"url={app.url}", "-a", f"paths={paths}"]
    return [*start, "-o", "items.jsonl", *options]


def items(weft: Weft) -> dict[str, str]:
    lines = (weft.directory / "items.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    texts = {"/" + item["url"].split("/")[3]: item["text"] for item in found}
    assert len(texts) == len(found)
    return texts


def asked(app: RawServer, path: str) -> int:
    return sum(head.startswith(f"GET {path} ".encode()) for head in app.requests)


@pytest.mark.parametrize("has_reactor", [True, False])
def test_a_site_that_scripts_write_is_crawled(
    weft: Weft, app: RawServer, has_reactor: bool
) -> None:
    done = weft(*words(app, "list", TWISTED_REACTOR_ENABLED=has_reactor))
    assert done.returncode == 0, done.stderr
    assert items(weft) == {path: f"Article {path[8:]}" for path in ARTICLES}
    assert asked(app, "/secret") == 0
    assert asked(app, "/robots.txt") == 1
    assert {asked(app, path) for path in ("/list", *ARTICLES)} == {1}


def test_a_browser_that_is_killed_costs_no_page(weft: Weft, app: RawServer) -> None:
    with weft.start(*words(app, "held,list")) as process:
        wait_until(lambda: asked(app, "/held") == 1, "a page is under way")
        [chromium] = browsers_of(process.pid)
        chromium.kill()
        _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    expected = {path: f"Article {path[8:]}" for path in ARTICLES}
    assert items(weft) == expected | {"/held": "Held"}
    assert asked(app, "/held") == 2


def test_a_worker_that_is_killed_leaves_no_browser(weft: Weft, app: RawServer) -> None:
    process = weft.start(*words(app, "held"))
    wait_until(lambda: asked(app, "/held") == 1, "a page is under way")
    [chromium] = browsers_of(process.pid)
    gone = [chromium, driver_of(chromium), *chromium.children(recursive=True)]
    psutil.Process(process.pid).kill()
    process.communicate()
    wait_until(lambda: not any(map(is_alive, gone)), "they have ended")
    done = weft(*words(app, "held"))
    assert items(weft) == {"/held": "Held"}, done.stderr


def test_a_crawl_that_is_stopped_does_not_wait_for_the_browser(weft: Weft, app: RawServer) -> None:
    with weft.start(*words(app, "silent", WEFT_CLOSE_TIMEOUT=0)) as process:
        wait_until(lambda: asked(app, "/silent") == 1, "a page is under way")
        gone = browsers_of(process.pid)
        process.send_signal(2)
        _, log = process.communicate(timeout=30)
    assert "Traceback" not in log
    assert not any(map(is_alive, gone))


def test_who_has_no_browser_is_told_what_to_do(weft: Weft, app: RawServer) -> None:
    done = weft(*words(app, "list", WEFT_BROWSER_PATH="/no/chromium", LOG_LEVEL="ERROR"))
    assert "WEFT_BROWSER_PATH is '/no/chromium', which is no program" in done.stderr
    assert asked(app, "/list") == 0

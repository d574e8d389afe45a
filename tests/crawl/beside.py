"""Runs a spider with plain Scrapy and with Weft, to compare the two."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawling import Crawl, crawl
from scrapy import Spider

WEFT: Mapping[str, int] = {"weft.Addon": 500}

Runs = list[Crawl]


def crawl_beside(
    directory: Path,
    spider: type[Spider],
    settings: Mapping[str, Any] | None = None,
    runs: int = 1,
    **arguments: Any,
) -> tuple[Runs, Runs]:
    """Some runs with plain Scrapy, and as many with Weft."""
    results: list[Runs] = []
    settings = settings or {}
    for name, ours in (("plain", {}), ("weft", WEFT)):
        place = directory / name
        place.mkdir()
        # Makes the directory a project: that is where some packages keep their data.
        (place / "scrapy.cfg").write_text("[settings]\n")
        changed = {**settings, "ADDONS": {**ours, **settings.get("ADDONS", {})}}
        results.append([crawl(place, spider, changed, **arguments) for _ in range(runs)])
    plain, with_weft = results
    return plain, with_weft


def name_of_run(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    """For FEED_URI_PARAMS: whether it is `plain` or `weft`."""
    return {**params, "run": Path.cwd().name}


def assert_same(plain: Runs, with_weft: Runs, items: list[int]) -> None:
    """`items`: how many each run must give. Two crawls that find nothing would be equal."""
    for run in (*plain, *with_weft):
        assert run.reason == "finished", run.log
        assert "ERROR" not in run.log, run.log
    assert [len(run.items) for run in plain] == items
    assert _counted(with_weft) == _counted(plain)


def _counted(runs: Runs) -> list[Counter[str]]:
    return [Counter(json.dumps(item, sort_keys=True) for item in run.items) for run in runs]

"""Who sets a setting last wins as in Scrapy: command line, spider, project, add-ons."""

import json
import shutil
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from running import Python

PROJECT = Path(__file__).parent / "project"
LEVELS = ("addon", "project", "spider", "cmdline")

Values = Mapping[str, Any]

#: Each is set by some levels, to the name of the level.
BY_LEVELS = {
    level: {
        f"BY_{'_'.join(levels).upper()}": level
        for number in range(1, 5)
        for levels in combinations(LEVELS, number)
        if level in levels
    }
    for level in LEVELS
}
#: What Weft's add-on sets, too.
OURS: Values = {
    "CONCURRENT_REQUESTS": 3,
    "LOG_FORMATTER": "shop.parts.OwnFormatter",
    "STATS_CLASS": "shop.parts.OwnStats",
    "ROBOTSTXT_PARSER": "shop.parts.OwnParser",
    "REMOTE_CONTROL_ENABLED": True,
    "DOWNLOAD_HANDLERS": {"http": "shop.parts.OwnHandler", "https": "shop.parts.OwnHandler"},
}


def winners(
    directory: Path, by_level: Mapping[str, Values], addons: Mapping[str, int]
) -> list[dict[str, Any]]:
    """What a crawl with these settings finds."""
    shutil.copytree(PROJECT, directory)
    append(directory / "shop/settings.py", f"globals().update({by_level.get('project', {})})")
    spider = f"LevelsSpider.custom_settings = {by_level.get('spider', {})}"
    append(directory / "shop/spiders/levels.py", spider)
    append(directory / "shop/parts.py", f"OwnAddon.chosen = {by_level.get('addon', {})}")
    chosen: dict[str, Any] = {"ADDONS": addons, **by_level.get("cmdline", {})}
    names = sorted({name for values in by_level.values() for name in values})
    ended = Python(directory, "-m", "scrapy")(
        *("crawl", "levels", "-O", "feed.jsonl", "-a", f"names={','.join(names)}"),
        *(part for name, value in chosen.items() for part in ("-s", f"{name}={as_text(value)}")),
    )
    assert ended.returncode == 0, ended.stderr
    assert "ERROR" not in ended.stderr, ended.stderr
    return [json.loads(line) for line in (directory / "feed.jsonl").read_text().splitlines()]


def append(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n\n{line}\n")


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def test_the_level_that_wins_is_that_of_scrapy(tmp_path: Path) -> None:
    other = {"shop.parts.OwnAddon": 100}
    plain = winners(tmp_path / "plain", BY_LEVELS, other)
    with_weft = winners(tmp_path / "weft", BY_LEVELS, {**other, "weft.Addon": 500})
    assert with_weft[0] == plain[0]
    assert len(plain[0]) == 15
    assert plain[0]["BY_ADDON_SPIDER"] == "spider"


@pytest.mark.parametrize("level", [*LEVELS, "later addon"])
def test_what_others_set_wins_over_what_weft_sets(level: str, tmp_path: Path) -> None:
    by_level = {"addon" if level == "later addon" else level: OURS}
    other = {"shop.parts.OwnAddon": 900 if level == "later addon" else 100}
    plain = winners(tmp_path / "plain", by_level, other)
    with_weft = winners(tmp_path / "weft", by_level, {**other, "weft.Addon": 500})
    assert with_weft == plain
    assert plain[0]["CONCURRENT_REQUESTS"] == "3"
    assert plain[1] == {
        "formatter": "OwnFormatter",
        "stats": "OwnStats",
        "has_remote_control": True,
    }


def test_an_add_on_with_a_scheduler_of_its_own_is_refused(tmp_path: Path) -> None:
    chosen = {"addon": {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}}
    addons = {"shop.parts.OwnAddon": 100, "weft.Addon": 500}
    with pytest.raises(AssertionError, match="remove SCHEDULER from its settings"):
        winners(tmp_path / "weft", chosen, addons)

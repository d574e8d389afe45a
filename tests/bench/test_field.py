"""The contestants: the same limits for all, and a spider that differs in one line."""

import difflib
import json
import sys
from pathlib import Path

import pytest

from bench.crawlers.field import CONTESTANTS, Pace, Plan
from weft.errors import ConfigError

URL = "http://127.0.0.1:21000/000/a-0.html"


def plan_in(directory: Path, *, workers: int = 1, urls: tuple[str, ...] = (URL,)) -> Plan:
    redis_url = "redis://127.0.0.1:1/0"
    return Plan(urls, Pace(16, 16), directory, workers, redis_url, Path(sys.executable))


def words(name: str, plan: Plan) -> list[list[str]]:
    return [list(map(str, command)) for command in CONTESTANTS[name].commands(plan)]


def test_the_changed_spider_differs_in_its_import_line_only(tmp_path: Path) -> None:
    [plain], [changed] = (words(name, plan_in(tmp_path)) for name in ("scrapy", "addon-links"))
    files = [next(word for word in command if word.endswith(".py")) for command in (plain, changed)]
    before, after = (Path(file).read_text().splitlines() for file in files)
    difference = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert difference == [
        "- from scrapy.linkextractors import LinkExtractor",
        "+ from weft import LinkExtractor",
    ]


def test_the_unchanged_spider_is_the_file_that_plain_scrapy_runs(tmp_path: Path) -> None:
    [plain], [addon] = (words(name, plan_in(tmp_path)) for name in ("scrapy", "addon"))
    assert plain[:5] == addon[:5]
    assert 'ADDONS={"weft.Addon": 500}' in addon


def test_workers_share_what_one_alone_may_do(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, workers=2)
    assert len(words("scrapy-redis-2", plan)) == 2
    told = json.loads((tmp_path / "plan.json").read_text())
    assert told["scrapy"]["CONCURRENT_REQUESTS"] == 8
    assert len(set(told["outputs"])) == 2


@pytest.mark.parametrize(("urls", "per_host"), [((URL,), "2"), ((URL, URL), "1")])
def test_two_workers_of_weft_share_a_host_if_there_is_only_one(
    tmp_path: Path, urls: tuple[str, ...], per_host: str
) -> None:
    [command] = words("weft-redis-2", plan_in(tmp_path, workers=2, urls=urls))
    assert command[command.index("--workers-per-host") + 1] == per_host
    assert "CONCURRENT_REQUESTS=16" in command


def test_what_is_not_there_is_not_installed() -> None:
    python = Path(sys.executable)
    absent = CONTESTANTS["crawlee"]._replace(package="surely_not_installed")
    assert not absent.is_installed(python)
    assert not absent._replace(is_peer=False).is_installed(python)
    assert absent._replace(package="scrapy").is_installed(python)


def test_peers_that_are_no_python_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--peers .*nothing: No such file"):
        CONTESTANTS["crawlee"].is_installed(tmp_path / "nothing")

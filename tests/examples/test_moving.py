"""Projects that move to Weft: what their diffs say is true, and both sides find the same books."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launchers.redis import RedisServer
from running import Weft
from servers import Servers

MOVING = Path(__file__).parents[2] / "examples/moving"
DOCUMENT = MOVING.parents[1] / "docs/moving.md"
PROJECTS = ("scrapy-project", "scrapy-redis-project")

Book = tuple[tuple[str, Any], ...]


@pytest.fixture
def redis(servers: Servers) -> Iterator[RedisServer]:
    """An empty Redis, which may hold keys of others afterwards."""
    server = servers.get("redis")
    assert isinstance(server, RedisServer)
    server.ask("FLUSHALL")
    yield server
    server.ask("FLUSHALL")


def copy_of(project: str, directory: Path) -> Path:
    return Path(shutil.copytree(MOVING / project, directory / Path(project).name))


def scrapy(directory: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["scrapy", "crawl", "books", *arguments], cwd=directory)


def books_in(lines: list[str]) -> list[Book]:
    return sorted(tuple(json.loads(line).items()) for line in lines)


def books_of(project: Path) -> list[Book]:
    return books_in((project / "books.jsonl").read_text().splitlines())


def crawl_on(server: RedisServer, project: Path, *arguments: str) -> list[Book]:
    """What two workers find."""
    command = ("crawl", "books", "--workers", "2", "--store", server.url, *arguments)
    ended = Weft(project)(*command)
    assert ended.returncode == 0, ended.stderr
    return books_of(project)


@pytest.mark.parametrize("project", PROJECTS)
def test_the_diff_is_what_diff_says(project: str) -> None:
    command = ["diff", "-ru", "--exclude=__pycache__", "before", "after"]
    said = subprocess.run(command, cwd=MOVING / project, capture_output=True, text=True).stdout
    without_commands = re.sub(r"^diff .*\n", "", said, flags=re.MULTILINE)
    without_times = re.sub(r"^(---|\+\+\+) (\S+)\t.*", r"\1 \2", without_commands, flags=re.M)
    assert (MOVING / project / "moving.diff").read_text() == without_times


@pytest.mark.long
def test_a_scrapy_project_finds_the_same_with_two_workers(
    shop: str, redis: RedisServer, tmp_path: Path
) -> None:
    before = copy_of("scrapy-project/before", tmp_path)
    assert scrapy(before, "-a", f"shop={shop}").wait(60) == 0
    after = copy_of("scrapy-project/after", tmp_path)
    found = crawl_on(redis, after, "-a", f"shop={shop}")
    assert found == books_of(before)
    assert len(found) == len(set(found)) == 800


def push_starts(server: RedisServer, shop: str) -> None:
    starts = [f"{shop}category/{number}.html" for number in (0, 2)]
    server.ask("RPUSH", "books:start_urls", *starts)


def test_a_scrapy_redis_project_keeps_its_list_of_start_urls(
    shop: str, redis: RedisServer, tmp_path: Path
) -> None:
    push_starts(redis, shop)
    after = copy_of("scrapy-redis-project/after", tmp_path)
    found = crawl_on(redis, after, "-s", f"REDIS_URL={redis.url}")
    assert len(found) == len(set(found)) == 134 + 133
    assert redis.ask("LLEN", "books:start_urls") == 2


def test_a_crawl_of_scrapy_redis_goes_on_with_its_queue(
    shop: str, redis: RedisServer, tmp_path: Path
) -> None:
    pytest.importorskip("scrapy_redis")
    push_starts(redis, shop)
    stop_soon = ("-s", f"REDIS_URL={redis.url}", "-s", "CLOSESPIDER_PAGECOUNT=2")
    assert scrapy(copy_of("scrapy-redis-project/before", tmp_path), *stop_soon).wait(60) == 0
    found_before = books_in(redis.ask("LRANGE", "books:items", 0, -1))
    after = copy_of("scrapy-redis-project/after", tmp_path)
    assert Weft(after)(*import_command(redis)).returncode == 0
    found_after = crawl_on(redis, after, "-s", f"REDIS_URL={redis.url}")
    assert found_before
    assert found_after
    together = [*found_before, *found_after]
    assert len(together) == len(set(together)) == 134 + 133


def import_command(server: RedisServer) -> list[str]:
    """As docs/moving.md has it, but for the address."""
    [command] = re.findall(r"^weft (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    return str(command).replace("redis://localhost:6379/0", server.url).split()

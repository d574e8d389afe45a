"""A crawl starts quickly because it loads only what it uses; see docs/performance.md."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from weft.testing import Site, SiteServer

#: What was once loaded for nothing, or would take long to load.
HEAVY = {
    "aiohttp",
    "boto3",
    "botocore",
    "matplotlib",
    "numpy",
    "psutil",
    "pyarrow",
    "pymongo",
    "redis",
    "rich._emoji_codes",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.extensions.remote_control",
    "sqlalchemy",
    "twisted.web.client",
    "warcio",
    "weft.testing",
}
#: With the middleware for cookies, which a spider has and `weft crawl URL` has not.
OF_COOKIES = {"requests", "scrapy.downloadermiddlewares.cookies", "tldextract", "urllib3"}
#: What only the command line needs.
OF_COMMANDS = {"rich", "typer"}

PROGRAM = """
import atexit, json, pathlib, sys
atexit.register(lambda: pathlib.Path("modules.json").write_text(json.dumps([*sys.modules])))
from weft.cli import main
main()
"""
SPIDER = """
import scrapy

class OneSpider(scrapy.Spider):
    name = "one"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""


def loaded_by(directory: Path, arguments: Sequence[str]) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, "crawl", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 page and 1 item")
    return set(json.loads((directory / "modules.json").read_text()))


@pytest.mark.parametrize("output", ["pages.jsonl", "pages.db"])
def test_a_site_loads_no_more_than_it_uses(tmp_path: Path, output: str) -> None:
    with SiteServer(Site(pages=1)) as server:
        loaded = loaded_by(tmp_path, [server.url, "-o", output])
    assert loaded & (HEAVY | OF_COOKIES) == set()


def test_nor_does_a_spider(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SPIDER)
    with SiteServer(Site(pages=1)) as server:
        loaded = loaded_by(tmp_path, ["one.py", "-a", f"url={server.url}", "-o", "pages.jsonl"])
    assert loaded & HEAVY == set()
    assert loaded >= OF_COOKIES  # Scrapy's cookies are on


def test_nor_does_a_worker_that_is_started_as_a_program() -> None:
    code = "import sys; from weft.cli.worker import prepare; prepare(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needed = {"redis", "psutil"}
    assert set(done.stdout.split()) & (HEAVY - needed | OF_COOKIES | OF_COMMANDS) == set()

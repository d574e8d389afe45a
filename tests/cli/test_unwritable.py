"""A directory that cannot be written is named, with what to do instead."""

from pathlib import Path

import pytest

from disks import unwritable
from launchers.redis import RedisServer
from running import Python, Weft
from weft.testing import SiteServer

SPIDER = """
import scrapy

class Plain(scrapy.Spider):
    name = "plain"
    custom_settings = {"ADDONS": {"weft.Addon": 500}}
"""


def check(told: str, directory: Path) -> None:
    assert f"cannot be used: {directory} cannot be written (" in told
    assert "run this in another directory, or choose another place" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("options", [[], ["--workers", "2"]])
def test_the_working_directory_cannot_be_written(
    options: list[str], weft: Weft, site: SiteServer, tmp_path: Path
) -> None:
    with unwritable(tmp_path):
        done = weft("crawl", site.url, *options)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    check(done.stderr, tmp_path)
    assert not site.hits()


def test_the_directory_of_the_job_cannot_be_written(
    weft: Weft, site: SiteServer, tmp_path: Path
) -> None:
    assert weft("crawl", site.url, "--job", "one", "--max-pages", "1").returncode == 0
    frontier = tmp_path / ".weft" / "one" / "frontier"
    with unwritable(frontier):
        done = weft("crawl", site.url, "--job", "one")
    assert done.returncode == 1
    check(done.stderr, frontier)


def test_scrapy_is_told_too(site: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(SPIDER)
    with unwritable(tmp_path):
        done = Python(tmp_path, "-B", "-m", "scrapy")(
            *("runspider", "plain.py", "-a", f"start_urls={site.url}", "-s", "LOG_LEVEL=ERROR")
        )
    check(done.stderr, tmp_path)
    assert not site.hits()


@pytest.mark.parametrize("option", ["store", "JOBDIR", "redis"])
def test_another_place_can_be_named(
    option: str, weft: Weft, site: SiteServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    here, other = tmp_path / "here", tmp_path / "other"
    here.mkdir()
    other.mkdir()
    named = {
        "store": ["--store", f"rocks://{other}"],
        "JOBDIR": ["-s", f"JOBDIR={other}"],
        "redis": ["--store", redis_server.url, "-s", f"JOBDIR={other}"],
    }
    with unwritable(here):
        done = Weft(here)("crawl", site.url, "--max-pages", "1", *named[option])
    assert done.returncode == 0, done.stderr

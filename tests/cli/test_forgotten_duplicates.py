"""Which commands forget the articles that a job has met: those that forget its items or its job."""

import asyncio
from pathlib import Path

import pytest

from launchers.redis import RedisServer
from running import Weft
from weft.boards.duplicates import open_duplicates, sign
from weft.testing import SiteServer

JOB = ("--job", "news")


async def _meet(place: Path | str, url: str) -> str | None:
    signature = sign("Some text.")
    assert signature is not None
    async with open_duplicates(place, "news") as index:
        [original] = await index.meet([(url, signature)])
        return original


def meet(place: Path | str, url: str) -> str | None:
    return asyncio.run(_meet(place, url))


@pytest.mark.parametrize("is_shared", [False, True])
def test_articles_are_forgotten_with_their_items_and_with_their_job(
    weft: Weft, site: SiteServer, tmp_path: Path, redis_server: RedisServer, is_shared: bool
) -> None:
    store = ("--store", redis_server.url) if is_shared else ()
    place = redis_server.url if is_shared else tmp_path / ".weft" / "news"
    crawl = ("crawl", site.url, *JOB, *store, "--max-pages", "2")
    assert weft(*crawl).returncode == 0
    assert meet(place, "http://a/") is None
    assert weft(*crawl).returncode == 0
    assert meet(place, "http://b/") == "http://a/"
    assert weft(*crawl, "--fresh").returncode == 0
    assert meet(place, "http://c/") is None
    assert weft("frontier", "clear", *JOB, *store, "--yes").returncode == 0
    assert meet(place, "http://d/") is None

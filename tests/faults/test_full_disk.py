"""A crawl whose disk is full stops with a clear error, and goes on when there is space again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import fill, small_disk_at
from running import Weft
from weft.testing import Site, SiteServer

#: Many more than fit beside the ballast.
PAGES = 1500


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "disk", size_mb=24) as disk:
        yield disk


@pytest.mark.parametrize("full", ["store", "output"])
def test_a_full_disk_is_told_and_nothing_is_lost(
    full: str, small_disk: Path, weft: Weft, tmp_path: Path
) -> None:
    store = small_disk if full == "store" else tmp_path
    output = (small_disk if full == "output" else tmp_path) / "out.jsonl"
    with SiteServer(Site(pages=PAGES, links=10)) as server:
        command = ("crawl", server.url, "--store", f"rocks://{store}/job", "-o", str(output))
        assert weft(*command, "--max-pages", "20").returncode == 0
        ballast = fill(small_disk, leave_bytes=100_000)
        stopped = weft(*command)
        assert stopped.returncode == 1
        assert "no space left" in stopped.stderr
        assert "run the same command again" in stopped.stderr
        assert "Traceback" not in stopped.stderr
        again = weft(*command)  # still full: still a clear error
        assert again.returncode == 1
        assert "no space left" in again.stderr
        ballast.unlink()
        ended = weft(*command)
        assert ended.returncode == 0, ended.stderr
        pages = [json.loads(line)["url"] for line in output.read_text().splitlines()]
        assert len(pages) == PAGES
        assert set(pages) == server.page_urls()

"""Where there is no POSIX, as on Windows, Weft can be imported, and crawls in one process."""

import json
import subprocess
import sys
from pathlib import Path

import elsewhere
from weft.testing import SiteServer


def run(directory: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, elsewhere.__file__, *words],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    done = run(tmp_path, "imports")
    assert done.returncode == 0, done.stderr
    modules = done.stdout.split()
    assert {"weft.redis.server", "weft.sinks.disk.lockedfile", "weft.node.supervisor"} <= {*modules}


def test_an_embedded_crawl_writes_its_pages(tmp_path: Path, site: SiteServer) -> None:
    done = run(tmp_path, "weft", "crawl", site.url, "-o", "pages.jsonl", "-o", "pages.db")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert len({json.loads(line)["url"] for line in lines}) == len(lines) == 10


def test_several_workers_are_refused_in_a_line(tmp_path: Path, site: SiteServer) -> None:
    done = run(tmp_path, "weft", "crawl", site.url, "--workers", "2")
    assert done.returncode == 1
    assert "--workers" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_node_is_refused_in_a_line(tmp_path: Path) -> None:
    done = run(tmp_path, "weft", "worker", "--store", "redis://localhost:1/0")
    assert done.returncode == 1
    assert "lacks the signals" in done.stderr
    assert "Traceback" not in done.stderr

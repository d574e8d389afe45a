"""A long crawl costs as much at its end as at its beginning, in memory and in CPU per page."""

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from weft.testing import Site, SiteServer

# Runs a crawl in a process of its own and samples it while it runs: often, because a fast machine
# fetches a thousand pages between two looks of the progress line.
CRAWL = """
import json, resource, sys, time
from pathlib import Path
from weft.engine import run
from weft.engine.run import run_crawl
from weft.engine.target import find_target

samples = []
run.WATCH_S = 0.02

def watch(progress):
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    samples.append([progress.pages, time.process_time(), resident])

report = run_crawl(find_target([sys.argv[1]], {}), {}, watch)
print(json.dumps({"pages": report.progress.pages, "reason": report.reason, "samples": samples}))
"""


# The same; reports how many objects the garbage collector had to find in a crawl.
GARBAGE = """
import gc, sys
from weft.engine.run import run_crawl
from weft.engine.target import find_target

def watch(progress):
    if not gc.get_debug():
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)

report = run_crawl(find_target([sys.argv[1]], {}), {}, watch)
gc.collect()
print(report.progress.pages, len(gc.garbage))
"""


class Sample(NamedTuple):
    pages: int
    cpu_s: float
    resident_bytes: int


def crawl(pages: int, directory: Path) -> list[Sample]:
    with SiteServer(Site(pages=pages, links=10, size_bytes=500, log=False)) as server:
        command = [sys.executable, "-c", CRAWL, server.url]
        ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=900)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert (told["pages"], told["reason"]) == (pages, "finished")
    return [Sample(*sample) for sample in told["samples"]]


def at(samples: list[Sample], pages: float) -> Sample:
    return min(samples, key=lambda sample: abs(sample.pages - pages))


def cpu_ms_per_page(samples: list[Sample], first: float, last: float) -> float:
    begin, end = at(samples, first), at(samples, last)
    return 1000 * (end.cpu_s - begin.cpu_s) / (end.pages - begin.pages)


def cheapest_part_ms(samples: list[Sample], ends: Sequence[float]) -> float:
    """CPU per page; what else the machine does makes pages dearer, but not all the time."""
    return min(cpu_ms_per_page(samples, first, last) for first, last in pairwise(ends))


def check(pages: int, directory: Path, dearer: float) -> None:
    samples = crawl(pages, directory)
    early = cheapest_part_ms(samples, (0.1 * pages, 0.2 * pages, 0.3 * pages, 0.4 * pages))
    late = cheapest_part_ms(samples, (0.65 * pages, 0.75 * pages, 0.85 * pages, 0.95 * pages))
    grown_mb = (
        at(samples, 0.95 * pages).resident_bytes - at(samples, 0.3 * pages).resident_bytes
    ) / 2**20
    print(f"{pages} pages: {early:.2f} ms a page early, {late:.2f} late; grew by {grown_mb:.1f} MB")
    assert late < early * dearer
    assert grown_mb < 25


def test_pages_leave_nothing_to_the_garbage_collector(tmp_path: Path) -> None:
    told = {}
    for count in (10, 210):
        with SiteServer(Site(pages=count, links=10, size_bytes=500, log=False)) as server:
            command = [sys.executable, "-c", GARBAGE, server.url]
            directory = tmp_path / str(count)
            directory.mkdir()
            ended = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        pages, told[count] = map(int, ended.stdout.split())
        assert pages == count
    # Start and end leave some, and so does a round with the store now and then.
    assert told[210] - told[10] < 200


@pytest.mark.timeout(300)
def test_a_crawl_of_5_000_pages_stays_as_it_began(tmp_path: Path) -> None:
    check(5_000, tmp_path, dearer=1.5)  # too short to be exact


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_crawl_of_100_000_pages_stays_as_it_began(tmp_path: Path) -> None:
    check(100_000, tmp_path, dearer=1.2)

"""How much faster two workers are than one, if the CPU is not the limit.

The site answers after 20 ms, and each worker has so few requests under way that it waits most of
the time. The rate is measured in the middle of the crawl, from the log of the site: from a tenth of
the pages to seven tenths. At first the workers are starting, and at the end there is not enough
left for all of them.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from bench.report import header
from launchers.redis import RedisServer
from weft.testing import Hit, Site, SiteServer

#: Two workers must reach this many times the rate of one.
LEAST_RATIO = 1.8
HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 101))
LATENCY_S = 0.02
#: Requests under way per worker.
CONCURRENCY = 4
#: The part of the pages whose rate counts.
FROM, UNTIL = 0.1, 0.7


class Scale(NamedTuple):
    #: Per host.
    pages: int = 60
    rounds: int = 3


QUICK = Scale(pages=20, rounds=1)


def measure(scale: Scale, workers: int, server: RedisServer) -> float:
    """Run a whole crawl with `workers` workers; return its pages per second."""
    site = Site(hosts=HOSTS, pages=scale.pages, links=5, latency_s=LATENCY_S)
    with SiteServer(site) as serving, tempfile.TemporaryDirectory() as directory:
        command = [
            *(str(Path(sys.executable).with_name("weft")), "crawl"),
            *(serving.url_of(host) for host in HOSTS),
            *("--store", server.url, "--workers", str(workers), "-o", "out.jsonl"),
            *("-s", f"CONCURRENT_REQUESTS={CONCURRENCY}", "-s", "ROBOTSTXT_OBEY=False"),
        ]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        hits = serving.hits()
    server.ask("FLUSHALL")
    return rate(hits, len(HOSTS) * scale.pages)


def rate(hits: Sequence[Hit], pages: int) -> float:
    times = sorted(hit.at_s for hit in hits)
    assert len(times) == pages, f"{len(times)} requests for {pages} pages"
    first, last = round(FROM * pages), round(UNTIL * pages) - 1
    return (last - first) / (times[last] - times[first])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small round")
    scale = QUICK if parser.parse_args().quick else Scale()
    console = Console(stderr=True)
    rates: dict[int, list[float]] = {1: [], 2: []}
    with RedisServer() as server:
        told = header(server, [_note(scale)])
        for number in range(scale.rounds):
            for workers, found in rates.items():
                console.print(f"round {number + 1} of {scale.rounds}, workers: {workers}")
                found.append(measure(scale, workers, server))
    one, two = (median(found) for found in rates.values())
    out = Console(width=120, highlight=False)
    out.print(told, soft_wrap=True)
    table = Table("workers", "pages a second", "times that of one", "limit", "", box=box.MARKDOWN)
    table.add_row("1", f"{one:,.0f}", "", "", "")
    is_kept = two / one >= LEAST_RATIO
    verdict = "ok" if is_kept else "MISSED"
    table.add_row("2", f"{two:,.0f}", f"{two / one:.2f}x", f"≥ {LEAST_RATIO:g}x", verdict)
    out.print(table)
    return 0 if is_kept else 1


def _note(scale: Scale) -> str:
    return (
        f"{len(HOSTS)} hosts with {scale.pages} pages each, {LATENCY_S * 1000:g} ms latency, "
        f"{CONCURRENCY} requests under way in a worker; medians of {scale.rounds} rounds in turn, "
        f"rates between {FROM:.0%} and {UNTIL:.0%} of the pages"
    )


if __name__ == "__main__":
    sys.exit(main())

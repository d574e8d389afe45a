"""How much the choice of sink slows down a crawl: pages per second into a database and JSON lines.

`weft crawl URL` on a static site from nginx, into each sink in turn, round after round. The rate is
measured from the first request until the process has ended, when all items have arrived; they are
counted in the sink. Databases also run on this machine, and take CPU from the crawl.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from bench.crawlers.nginx import Nginx
from bench.crawlers.pages import StaticSite
from bench.crawlers.report import header
from bench.crawlers.site import Kept, default_cache, keep
from launchers.mariadb import MariaDbServer
from launchers.mongodb import MongoServer
from launchers.postgresql import PostgreSqlServer

#: A crawl into these must reach this share of the rate of one into JSON lines.
LEAST_RATIO = 0.85
LIMITED = ("MongoDB", "MariaDB")
JSON_LINES = "JSON lines"
POLL_S = 0.01


class Scale(NamedTuple):
    pages: int = 5_000
    rounds: int = 5


QUICK = Scale(pages=500, rounds=1)


class Target(NamedTuple):
    """A sink, as `-o` takes it, and a function that counts its items."""

    label: str
    output: str
    count: Callable[[Path], int]


def measure(target: Target, kept: Kept) -> float:
    """Pages per second of one crawl."""
    with Nginx(kept.root, kept.port) as nginx, tempfile.TemporaryDirectory() as directory:
        weft = str(Path(sys.executable).with_name("weft"))
        command = [weft, "crawl", *kept.starts, "-o", target.output, "--concurrency", "16"]
        command += ["--fresh", "-s", "ROBOTSTXT_OBEY=False"]
        with subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL) as process:
            started_s = _first_request_s(nginx, process)
            if process.wait():
                raise SystemExit(f"the crawl into {target.label} failed")
            elapsed_s = time.monotonic() - started_s
        found = target.count(Path(directory))
        if found != kept.site.total:
            raise SystemExit(f"{target.label} has {found} items of {kept.site.total}")
    return kept.site.total / elapsed_s


def _first_request_s(nginx: Nginx, process: "subprocess.Popen[bytes]") -> float:
    while not nginx.served() and process.poll() is None:
        time.sleep(POLL_S)
    return time.monotonic()


@contextmanager
def targets() -> Iterator[list[Target]]:
    """Each database as in a normal installation: a commit is on disk when it returns."""
    with ExitStack() as stack:
        mongo = stack.enter_context(MongoServer())
        maria = stack.enter_context(MariaDbServer(is_durable=True))
        postgres = stack.enter_context(PostgreSqlServer(is_durable=True))
        maria.ask("CREATE DATABASE bench")
        postgres.ask("CREATE DATABASE bench")
        yield [
            Target(JSON_LINES, "items.jsonl", lambda place: _lines(place / "items.jsonl")),
            Target("SQLite, the default", "items.db", lambda place: _rows(place / "items.db")),
            Target("MongoDB", mongo.address("items"), lambda _: _documents(mongo)),
            Target("MariaDB", maria.address("bench", "items"), lambda _: _table_rows(maria)),
            Target(
                "PostgreSQL", postgres.address("bench", "items"), lambda _: _table_rows(postgres)
            ),
        ]


def _lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def _rows(path: Path) -> int:
    import sqlite3

    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM items").fetchone()[0])


def _documents(server: MongoServer) -> int:
    with server.client() as client:
        return client["weft"]["items"].count_documents({})


def _table_rows(server: MariaDbServer | PostgreSqlServer) -> int:
    return int(server.ask("SELECT count(*) FROM items", "bench")[0][0])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sinks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small round")
    scale = QUICK if parser.parse_args().quick else Scale()
    console = Console(stderr=True)
    kept = keep(StaticSite(scale.pages, 30_000, 60), default_cache(), console.print)
    with targets() as found:
        rates: dict[str, list[float]] = {target.label: [] for target in found}
        for number in range(scale.rounds):
            for target in found:
                console.print(f"round {number + 1} of {scale.rounds}: {target.label}")
                rates[target.label].append(measure(target, kept))
    print(header("pages/s: from the request for the first page until the crawl has ended"))
    Console().print(_table({label: median(found) for label, found in rates.items()}, scale))
    return 0


def _table(rates: dict[str, float], scale: Scale) -> Table:
    title = f"{scale.pages:,} pages of 30 KB, rounds: {scale.rounds}"
    table = Table(
        "items into", "pages/s", "beside JSON lines", "limit", box=box.MARKDOWN, title=title
    )
    for label, rate in rates.items():
        ratio = rate / rates[JSON_LINES]
        table.add_row(label, f"{rate:,.0f}", f"{ratio:.2f}", _verdict(label, ratio))
    return table


def _verdict(label: str, ratio: float) -> str:
    if label not in LIMITED:
        return ""
    return f"{'ok' if ratio >= LEAST_RATIO else 'MISSED'} (≥ {LEAST_RATIO})"


if __name__ == "__main__":
    sys.exit(main())

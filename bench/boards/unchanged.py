"""What it costs to visit lists again: changed ones, and those that come back the same.

    python -m bench.boards.unchanged

A board with lists of 60 articles is crawled, then its lists are due again. CPU of the crawling
process per list, without its start and end, in milliseconds; the ratio is to lists that changed.
"""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.boards.run import children_s
from bench.contestant import BenchError

LISTS = 400
LINKS = 60
#: Of HTML around the links, as real lists have it.
PADDING = "<div class='promo'><p>Read more in our magazine, every week.</p></div>\n" * 600
ROUNDS = 3
#: Lists are due again after so many seconds.
DUE_S = 1
#: What we promise.
MOST_RATIO = 0.5


class Answers(StrEnum):
    #: The page has changed, but has no new links.
    CHANGED = "changed"
    #: The server says that it has not changed.
    NOT_MODIFIED = "304"
    #: The server sends the same page again.
    SAME = "the same page"


class Site:
    def __init__(self) -> None:
        self.answers = Answers.SAME
        #: Another one makes other pages.
        self.edition = 0
        #: How many lists were asked for.
        self.asked = 0

    def page(self, path: str) -> tuple[str, bytes]:
        """The ETag and the page; empty if it is none."""
        number = path.removeprefix("/list/")
        if not number.isdigit():
            return "", b""
        # All lists lead to the same few articles, so that reading lists is all there is to do.
        links = "\n".join(
            f"<li><a href='/story/{link}-a-headline-of-some-words.html'>A headline of some words, "
            f"the {link}th of many</a><p>And what it is about, in a line or two.</p></li>"
            for link in range(LINKS)
        )
        body = (
            f"<html><head><title>List {number}</title></head><body><h1>List {number}</h1>"
            f"<!-- {self.edition} --><ul class='stories'>{links}</ul>{PADDING}</body></html>"
        ).encode()
        return f'"{blake2b(body, digest_size=8).hexdigest()}"', body


@contextmanager
def served(site: Site) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            tag, body = site.page(self.path)
            site.asked += bool(body)
            is_known = (
                site.answers is Answers.NOT_MODIFIED and self.headers.get("If-None-Match") == tag
            )
            status = 304 if is_known else 200 if body else 404
            self.send_response(status)
            if status == 200:
                self.send_header("ETag", tag)
                self.send_header("Content-Type", "text/html; charset=utf-8")
            content = body if status == 200 else b""
            if status != 304:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def crawl(directory: Path) -> float:
    """CPU seconds of a run."""
    before_s = children_s()
    command = [sys.executable, "-m", "weft", "crawl", "board.yaml", "-o", "items.jsonl"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return children_s() - before_s


def crawl_again(site: Site, directory: Path, lists: int) -> float:
    """CPU seconds of a run that visits all lists."""
    time.sleep(DUE_S + 0.1)  # a run visits what was due when it began
    site.asked = 0
    cost_s = crawl(directory)
    if site.asked != lists:
        raise BenchError(f"{site.asked} lists were visited, and not {lists}")
    return cost_s


class Cost(NamedTuple):
    """CPU milliseconds of a list."""

    changed: float
    not_modified: float
    same: float

    @property
    def ratio(self) -> float:
        """Of the dearer of those that came back the same."""
        return max(self.not_modified, self.same) / self.changed


def measure(lists: int, rounds: int) -> Cost:
    site = Site()
    costs: dict[Answers, list[float]] = {answers: [] for answers in Answers}
    with served(site) as base, tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        entries = "\n".join(f"  - {base}/list/{number}" for number in range(lists))
        text = f"name: lists\nentries:\n{entries}\nlimits: {{delay: 0}}\n"
        board = directory / "board.yaml"
        always = ", ".join(f"{name}: {DUE_S}s" for name in ("every", "at_least", "at_most"))
        board.write_text(f"{text}refresh: {{{always}}}\n")
        crawl(directory)
        for _ in range(rounds):
            for answers in Answers:
                site.answers = answers
                site.edition += answers is Answers.CHANGED
                costs[answers].append(crawl_again(site, directory, lists))
        board.write_text(f"{text}refresh: {{every: 1d, at_least: 1d}}\n")
        crawl(directory)
        idle_s = min(crawl(directory) for _ in range(rounds))
    return Cost(*(1000 * (min(costs[answers]) - idle_s) / lists for answers in Answers))


def show(cost: Cost) -> None:
    table = Table("list comes back", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("CPU ms", justify="right")
    table.add_column("ratio", justify="right")
    for answers, own in zip(Answers, cost, strict=True):
        table.add_row(answers, f"{own:.2f}", f"{own / cost.changed:.2f}")
    Console().print(table)
    is_met = cost.ratio <= MOST_RATIO
    print(
        f"{'ok' if is_met else 'FAILED'} unchanged list / changed list, CPU: {cost.ratio:.2f} "
        f"(limit ≤ {MOST_RATIO})"
    )


def main() -> int:
    cost = measure(LISTS, ROUNDS)
    show(cost)
    return int(cost.ratio > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())

"""Boards into MongoDB, all of it on this machine.

Starts a MongoDB and three newspapers, crawls them with the boards beside this file and two workers,
shows what is in the collection then, and ends all that it has started.
"""

import argparse
import asyncio
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from articles import describe, read_articles
from databases import open_collection

from weft.errors import WeftError
from weft.redis.server import bound_to_us
from weft.testing.newsroom import NewsroomServer
from weft.testing.newsroom.options import HOSTS

BOARDS = Path(__file__).parent / "boards"
#: The port of the papers in the boards; here they get a free one.
PORT = 8000
#: The job of `weft crawl boards`.
JOB = "boards"
YOUR_OWN = """
Your own sites: write a board for each, or have it written, and crawl them for as long as you like:
  weft board preview https://example.org/news/ -o news.yaml
  weft board add news.yaml
  weft crawl boards --watch --workers 2 -o mongodb://localhost/news/articles"""


def run(sink: str | None, workers: int, *, keep: bool) -> int:
    """The exit code of the crawl. All files are in one directory, and are gone in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="weft-news-", ignore_cleanup_errors=True) as made,
        open_collection(sink, say) as collection,
        NewsroomServer(by_port=not has_address(HOSTS["digest"])) as site,
    ):
        say(f"Three newspapers are at {' '.join(site.entries)}")
        copy_boards(Path(made, "boards"), site.newsroom.bases)
        add = ("board", "add", *(f"boards/{path.name}" for path in boards()))
        crawl = ("crawl", JOB, "--workers", str(workers), "-o", collection)
        if code := weft(made, *add) or weft(made, *crawl):
            return code
        for line in describe(asyncio.run(read_articles(collection, JOB))):
            say(line)
        say(YOUR_OWN)
        if keep:
            wait_for_ctrl_c(made, collection)
    return 0


def boards() -> list[Path]:
    return sorted(BOARDS.glob("*.yaml"))


def copy_boards(directory: Path, bases: Mapping[str, str]) -> None:
    """With the addresses that the papers have now."""
    directory.mkdir()
    for path in boards():
        text = path.read_text("utf-8")
        for name, base in bases.items():
            text = text.replace(f"http://{HOSTS[name]}:{PORT}", base)
        (directory / path.name).write_text(text, "utf-8")


def has_address(host: str) -> bool:
    """A Mac has but one address of its own; there, each paper gets a port instead."""
    with socket.socket() as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            return False
    return True


def weft(directory: str, *arguments: str) -> int:
    """What one would type; Ctrl-C asks it to stop, and then we end."""
    say(f"\n$ weft {shlex.join(arguments)}")
    command = bound_to_us([sys.executable, "-m", "weft", *arguments], signal.SIGTERM)
    with subprocess.Popen(command, cwd=directory, start_new_session=True) as process:
        try:
            return process.wait()
        finally:
            process.terminate()
            process.wait()


def wait_for_ctrl_c(directory: str, collection: str) -> None:
    say(f"""
Everything stays up until Ctrl-C. Look at it:
  weft items {shlex.quote(collection)} --unique --limit 10
  cd {shlex.quote(directory)} && weft board show courier""")
    with suppress(KeyboardInterrupt):
        signal.pause()


def say(text: str = "") -> None:
    print(text, flush=True)


def read_options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sink", nargs="?", help="mongodb://HOST/DB/COLLECTION instead of our own")
    parser.add_argument("--workers", type=int, default=2, help="processes that crawl")
    parser.add_argument("--keep", action="store_true", help="leave all up until Ctrl-C")
    return parser.parse_args(words)


def end(*_: object) -> NoReturn:
    """Ctrl-C and `kill` end it in good order."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        sys.exit(run(**vars(read_options(sys.argv[1:]))))
    except WeftError as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

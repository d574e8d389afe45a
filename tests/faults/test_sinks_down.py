"""A server that items go to dies in the midst of a crawl, and workers die with it: every item is
there once in the end."""

import csv
import json
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import nursery
from effort import times
from launchers.ftp import FtpServer
from launchers.mariadb import MariaDbServer
from launchers.mongodb import MongoServer
from launchers.postgresql import PostgreSqlServer
from launchers.s3 import BUCKET, S3Server
from running import WEFT, is_worker
from servers import started
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 7))
PAGES = times(30, 60)
LATENCY_S = 0.15
#: A worker that was killed is missed after so long.
LEASE_S = 2
#: Kills of the database, each with one of a worker.
OUTAGES = times(1, 2)


class Database(NamedTuple):
    """A server that can be killed, and what a crawl into it has stored."""

    output: str
    kill: Callable[[], None]
    start: Callable[[], None]
    pages: Callable[[], list[str]]
    #: While it is away nothing goes on; otherwise items wait in the job's directory.
    holds_back: bool = True


@contextmanager
def mariadb() -> Iterator[Database]:
    with started(MariaDbServer) as server:
        yield _relational(server)


@contextmanager
def postgresql() -> Iterator[Database]:
    with started(PostgreSqlServer) as server:
        yield _relational(server)


def _relational(server: MariaDbServer | PostgreSqlServer) -> Database:
    server.ask("CREATE DATABASE crawl")

    def pages() -> list[str]:
        return [url for (url,) in server.ask("SELECT url FROM pages", "crawl")]

    return Database(server.address("crawl", "pages"), server.kill, server.start, pages)


@contextmanager
def mongodb() -> Iterator[Database]:
    with started(MongoServer) as server:

        def pages() -> list[str]:
            with server.client() as client:
                return [document["url"] for document in client["weft"]["pages"].find()]

        yield Database(server.address("pages"), server.kill, server.start, pages)


@contextmanager
def ftp() -> Iterator[Database]:
    with started(FtpServer) as server:

        def pages() -> list[str]:
            with (server.files / "pages.csv").open(encoding="utf-8", newline="") as lines:
                return [row["url"] for row in csv.DictReader(lines)]

        yield Database(server.address("pages.csv"), server.kill, server.start, pages, False)


@contextmanager
def s3() -> Iterator[Database]:
    with started(S3Server) as server:

        def pages() -> list[str]:
            found = server.client.list_objects_v2(Bucket=BUCKET, Prefix="crawl/")["Contents"]
            bodies = [
                server.client.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()
                for each in found
            ]
            return [json.loads(line)["url"] for body in bodies for line in body.splitlines()]

        yield Database(server.address("crawl/"), server.kill, server.start, pages, False)


class Crawl:
    """A crawl with two workers, each replaced when it is killed."""

    def __init__(self, site: SiteServer, output: str, directory: Path) -> None:
        self._log = directory / "crawl.log"
        command = [WEFT, "crawl", *(site.url_of(host) for host in HOSTS), "--workers", "2"]
        command += ["-o", output, "--concurrency", "2", "-s", f"WEFT_LEASE_TIMEOUT={LEASE_S}"]
        with self._log.open("w") as log:
            self.process = nursery.Popen(
                command, cwd=directory, stdout=subprocess.DEVNULL, stderr=log
            )

    def told(self) -> str:
        return self._log.read_text()

    def waits(self) -> int:
        """How often a worker said that it waits for the database."""
        return self.told().count("the crawl waits for it")

    def kill_a_worker(self, rng: random.Random) -> None:
        with suppress(IndexError, ProcessLookupError):  # none is there at the moment
            os.kill(rng.choice(self._workers()), signal.SIGKILL)

    def _workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        pids = [int(pid) for text in children for pid in text.read_text().split()]
        return [pid for pid in pids if is_worker(pid)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "make_database",
    [
        mariadb,
        *(pytest.param(other, marks=pytest.mark.long) for other in (mongodb, postgresql, ftp, s3)),
    ],
)
def test_a_crawl_survives_the_death_of_its_database_and_of_its_workers(
    make_database: Callable[[], AbstractContextManager[Database]],
    tmp_path: Path,
    rng: random.Random,
) -> None:
    site = Site(hosts=HOSTS, pages=PAGES, links=5, latency_s=LATENCY_S)
    with ExitStack() as stack:
        database = stack.enter_context(make_database())
        serving = stack.enter_context(SiteServer(site))
        crawl = Crawl(serving, database.output, tmp_path)
        stack.callback(crawl.process.wait)
        stack.callback(crawl.process.kill)
        for outage in range(1, OUTAGES + 1):
            wait_for_pages(serving, outage * len(HOSTS) * PAGES // (OUTAGES + 2))
            suffer(crawl, database, rng)
        if crawl.process.wait(150) and not database.holds_back:
            # The crawl came to its end while the server was away: the same command does the rest.
            crawl = Crawl(serving, database.output, tmp_path)
            stack.callback(crawl.process.wait)
            stack.callback(crawl.process.kill)
        assert crawl.process.wait(150) == 0, crawl.told()
        assert "Traceback" not in crawl.told()
        wanted = set().union(*(serving.page_urls(host) for host in HOSTS))
        pages = database.pages()
    assert len(pages) == len(set(pages))
    assert set(pages) == wanted


def suffer(crawl: Crawl, database: Database, rng: random.Random) -> None:
    """The server is away, and a worker dies before that is noticed or after."""
    waits = crawl.waits()
    database.kill()
    is_first_to_go = rng.random() < 0.5
    if is_first_to_go:
        crawl.kill_a_worker(rng)
    if database.holds_back:
        description = "a worker waits for the database"
        wait_until(lambda: crawl.waits() > waits, description=description, timeout_s=60)
    if not is_first_to_go:
        crawl.kill_a_worker(rng)
    database.start()


def wait_for_pages(site: SiteServer, enough: int) -> None:
    description = f"{enough} pages were asked for"
    wait_until(lambda: len(site.hits()) > enough, description=description, timeout_s=60)

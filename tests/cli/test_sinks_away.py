"""A crawl that is started while a server that its items go to is away."""

import csv
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from launchers.ftp import FtpServer
from launchers.mariadb import MariaDbServer
from running import Process, Weft
from servers import started
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

PAGES = 20
WAITS = "and begins when it is there"

CREWS = pytest.mark.parametrize(
    "crew",
    [
        pytest.param((), id="alone"),
        pytest.param(("--workers", "2"), id="crew", marks=pytest.mark.long),
    ],
)


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDbServer]:
    with started(MariaDbServer) as server:
        server.ask("CREATE DATABASE shop")
        yield server


@pytest.fixture
def ftp() -> Iterator[FtpServer]:
    with started(FtpServer) as server:
        yield server


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=PAGES)) as server:
        yield server


def read_until(process: Process, text: str) -> str:
    """What it says, up to a line with this text."""
    assert process.stderr is not None
    told = ""
    for line in process.stderr:
        told += line
        if text in line:
            return told
    raise AssertionError(f"it never says {text!r}, but:\n{told}")


def ended(process: Process) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    return process.returncode, out, err


@CREWS
def test_a_crawl_waits_for_a_database_until_ctrl_c(
    weft: Weft, site: SiteServer, crew: tuple[str, ...]
) -> None:
    process = weft.start("crawl", site.url, "-o", "mysql://me:secret@127.0.0.1:9/shop/books", *crew)
    told = read_until(process, WAITS)
    assert "127.0.0.1:9 cannot be reached" in told
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130
    assert "secret" not in told + err
    assert site.hits() == []


@CREWS
def test_a_crawl_begins_when_the_database_is_there(
    weft: Weft, site: SiteServer, mariadb: MariaDbServer, crew: tuple[str, ...]
) -> None:
    table = f"begins{len(crew)}"
    mariadb.kill()
    process = weft.start("crawl", site.url, "-o", mariadb.address("shop", table), *crew)
    read_until(process, WAITS)
    assert site.hits() == []
    mariadb.start()
    assert ended(process)[0] == 0
    assert mariadb.ask(f"SELECT count(*) FROM {table}", "shop") == [[str(PAGES)]]


def test_a_crawl_goes_on_when_the_database_is_there_again(
    weft: Weft, site: SiteServer, mariadb: MariaDbServer
) -> None:
    table = "goes_on"
    command = ("crawl", site.url, "-o", mariadb.address("shop", table))
    assert weft(*command, "--max-pages", "5").returncode == 0
    mariadb.kill()
    process = weft.start(*command)
    read_until(process, WAITS)
    mariadb.start()
    assert ended(process)[0] == 0
    assert mariadb.ask(f"SELECT count(*) FROM {table}", "shop") == [[str(PAGES)]]


@CREWS
def test_a_crawl_does_not_need_ftp_before_its_end(
    weft: Weft, site: SiteServer, ftp: FtpServer, crew: tuple[str, ...]
) -> None:
    output = ftp.address("pages.csv")
    ftp.kill()
    first = weft("crawl", site.url, "-o", output, *crew, "--fresh")
    assert first.returncode == 1
    assert "The crawl goes on: its items are safe in" in first.stderr
    assert "run the same command again to put them there" in " ".join(first.stderr.split())
    assert len(site.hits()) >= PAGES
    site.forget()
    ftp.start()
    again = weft("crawl", site.url, "-o", output, *crew)
    assert again.returncode == 0, again.stderr
    assert len(read_pages(ftp)) == PAGES
    assert [hit.path for hit in site.hits() if hit.path != "/robots.txt"] == []


def test_nothing_is_uploaded_before_a_crawl_that_does_not_begin(
    weft: Weft, site: SiteServer, ftp: FtpServer
) -> None:
    outputs = ("-o", ftp.address("pages.csv"), "-o", "mysql://me@127.0.0.1:9/shop/books")
    process = weft.start("crawl", site.url, *outputs)
    read_until(process, WAITS)
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert list(ftp.files.iterdir()) == []


def test_nothing_is_uploaded_before_there_is_an_item(weft: Weft, ftp: FtpServer) -> None:
    with SiteServer(Site(pages=3, latency_s=2)) as site:
        process = weft.start("crawl", site.url, "-o", ftp.address("pages.csv"))
        wait_until(lambda: bool(site.hits()), description="the first page was asked for")
        uploaded = [path.name for path in ftp.files.iterdir()]
        process.send_signal(signal.SIGINT)
        ended(process)
    assert uploaded == []


def test_a_wrong_output_is_told_and_the_right_one_is_left_alone(
    weft: Weft, site: SiteServer, ftp: FtpServer
) -> None:
    outputs = ("-o", ftp.address("a.csv"), "-o", ftp.address("b.csv", password="wrong"))
    told = weft("crawl", site.url, *outputs)
    assert told.returncode == 1
    assert "rejects the login" in " ".join(told.stderr.split())
    assert list(ftp.files.iterdir()) == []
    assert site.hits() == []


def read_pages(ftp: FtpServer) -> list[str]:
    with Path(ftp.files / "pages.csv").open(encoding="utf-8", newline="") as lines:
        return [row["url"] for row in csv.DictReader(lines)]

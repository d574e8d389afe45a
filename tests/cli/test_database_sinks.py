"""A crawl into a database; and one that cannot be, which is told before the crawl starts, with what
to do about it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nursery
from launchers.mariadb import MariaDbServer
from running import Weft
from servers import started
from weft.testing import Site, SiteServer

#: `weft`, where a module is not installed: its name is the first argument.
WITHOUT = """
import sys
sys.modules[sys.argv.pop(1)] = None
from weft.cli import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDbServer]:
    with started(MariaDbServer) as server:
        server.ask("CREATE DATABASE shop")
        server.ask("CREATE USER reader IDENTIFIED BY 'secret'; GRANT SELECT ON shop.* TO reader")
        yield server


def test_items_come_back_from_where_they_went(weft: Weft, mariadb: MariaDbServer) -> None:
    output = mariadb.address("shop", "pages")
    with SiteServer(Site(pages=30)) as site:
        for job in ("one", "two"):
            ended = weft("crawl", site.url, "-o", output, "--job", job)
            assert ended.returncode == 0, ended.stderr
        page = site.url + "p/7.html"
    assert mariadb.ROOT_PASSWORD not in ended.stdout
    read = weft("items", output, "--job", "two", "--where", f"url={page}", "--format", "jsonl")
    assert [json.loads(line)["url"] for line in read.stdout.splitlines()] == [page]
    everything = weft("items", output, "--format", "jsonl", "--all")
    items = [json.loads(line) for line in everything.stdout.splitlines()]
    assert {(item["_job"], item["_page"]) for item in items} == {
        (job, item["url"]) for job in ("one", "two") for item in items
    }
    assert len(items) == 60
    hours = json.loads(weft("stats", "--job", "two", "--json").stdout)
    assert "30" in json.dumps(hours)


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=3)) as server:
        yield server
        assert server.hits() == []


def refusal(weft: Weft, site: SiteServer, output: str, *options: str) -> str:
    ended = weft("crawl", site.url, "-o", output, *options)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "secret" not in ended.stderr
    return " ".join(ended.stderr.split())


@pytest.mark.parametrize("options", [(), ("--workers", "2")])
def test_a_wrong_password(
    weft: Weft, site: SiteServer, mariadb: MariaDbServer, options: tuple[str, ...]
) -> None:
    output = mariadb.address("shop", "books", "reader", "wrong-secret")
    told = refusal(weft, site, output, *options)
    assert told.count("'reader'") >= 1
    assert "password" in told


def test_a_missing_right(weft: Weft, site: SiteServer, mariadb: MariaDbServer) -> None:
    told = refusal(weft, site, mariadb.address("shop", "books", "reader", "secret"))
    assert "CREATE" in told
    assert "GRANT" in told


def test_an_unknown_scheme(weft: Weft, site: SiteServer) -> None:
    told = refusal(weft, site, "oracle://me:secret@host/shop/books")
    assert "oracle://***@host/shop/books" in told
    assert "mysql://host/db/table" in told


@pytest.mark.parametrize(
    ("output", "module", "extra"),
    [
        ("mongodb://host/shop/books", "pymongo", "mongodb"),
        ("mysql://host/shop/books", "asyncmy", "mysql"),
        ("postgresql://host/shop/books", "asyncpg", "postgresql"),
        ("sqlite:///tmp/shop.db/books", "sqlalchemy", "sqlite"),
        ("books.parquet", "pyarrow", "parquet"),
        ("s3://bucket/books/", "boto3", "s3"),
        ("warc://pages", "warcio", "warc"),
    ],
)
def test_a_missing_package(
    output: str, module: str, extra: str, site: SiteServer, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", WITHOUT, module, "crawl", site.url, "-o", output]
    ended = nursery.run(command, cwd=tmp_path, timeout=60)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    told = "".join(ended.stderr.split())
    assert f"pipinstall'weft[{extra}]'" in told

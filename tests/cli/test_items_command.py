"""`weft items`, as a user meets it."""

import asyncio
import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launchers.ftp import FtpServer
from launchers.mariadb import MariaDbServer
from running import WEFT, Weft
from servers import started
from weft.cli.items import Format, items
from weft.errors import ConfigError, WeftError
from weft.sinks import KeyedItem, SinkConfig, make_sink
from weft.testing import Site, SiteServer

AT_MS = 1_760_000_000_000  # 2025-10-09T08:53:20Z
BOOKS: list[dict[str, object]] = [
    {"title": "Brown [bold]Bread[/]", "price": 9.5, "author": {"name": "Ann"}},
    {"title": 'Büro, "quoted"\nand cut', "price": 12, "tags": ["x", "y"]},
    {"title": "東京", "price": None, "author": {"name": "Bo"}},
]


def put(output: Path, fields: list[dict[str, object]], job: str = "books") -> None:
    """As a crawl would have done it, a second apart."""
    asyncio.run(_put(output, fields, job))


async def _put(output: Path, fields: list[dict[str, object]], job: str) -> None:
    sink = make_sink(str(output), SinkConfig(output.parent, job))
    keyed = [
        KeyedItem(f"{job}{number}".encode().ljust(16), each, "http://a/", AT_MS + number * 1000)
        for number, each in enumerate(fields)
    ]
    await sink.open()
    try:
        await sink.store(keyed)
    finally:
        await sink.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / ".weft/books/items.db"
    put(path, BOOKS)
    return path


@pytest.mark.usefixtures("database")
def test_the_items_of_the_only_job_are_read_without_naming_it(weft: Weft) -> None:
    ended = weft("items", "--format", "jsonl")
    assert ended.returncode == 0, ended.stderr
    assert [json.loads(line) for line in ended.stdout.splitlines()] == BOOKS


@pytest.mark.usefixtures("database")
def test_several_jobs_are_listed_and_one_is_named(weft: Weft, tmp_path: Path) -> None:
    put(tmp_path / ".weft/news/items.db", [{"n": 1}], "news")
    ended = weft("items")
    assert ended.returncode == 1
    assert "there are several jobs here: books, news; name one with --job" in ended.stderr
    assert weft("items", "--job", "news", "--format", "jsonl").stdout == '{"n":1}\n'


@pytest.mark.parametrize("name", ["items.db", "items.jsonl"])
def test_articles_that_repeat_others_are_left_out_if_wanted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    first, again = {"n": 1, "duplicate_of": ""}, {"n": 2, "duplicate_of": "http://a/1"}
    put(tmp_path / name, [first, again, {"n": 3}, {"n": 4, "duplicate_of": None}])

    def numbers(**options: Any) -> list[object]:
        items(str(tmp_path / name), form=Format.JSONL, **options)
        return [json.loads(line)["n"] for line in capfd.readouterr().out.splitlines()]

    assert numbers() == [1, 2, 3, 4]
    assert numbers(is_unique=True) == [1, 3, 4]
    assert numbers(is_unique=True, where=["n>1"], limit=1) == [3]
    assert numbers(is_unique=True, where=["duplicate_of~a"]) == []


def test_unique_is_an_option_of_the_command(weft: Weft, tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", [{"n": 1, "duplicate_of": "http://a/"}, {"n": 2}])
    assert weft("items", "a.jsonl", "--unique", "--format", "jsonl").stdout == '{"n":2}\n'


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "there is no items.db of a job in"),
        ({"job": "shop"}, "there is no .weft/shop/items.db"),
        ({"sink": "none.db"}, "there is no file none.db"),
        ({"sink": "none.jsonl"}, "there is no file none.jsonl"),
        ({"sink": "none.xyz"}, "items cannot go to 'none.xyz'; choose a file that ends in"),
    ],
)
def test_where_there_is_nothing_it_is_told_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WeftError, match=re.escape(told)):
        items(**options)
    assert list(tmp_path.iterdir()) == []


def test_conditions_and_time_choose_items(
    database: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def titles(**options: Any) -> list[object]:
        items(str(database), form=Format.JSONL, **options)
        return [json.loads(line)["title"] for line in capfd.readouterr().out.splitlines()]

    everyone = [book["title"] for book in BOOKS]
    assert titles(where=["author.name!=", "price!="]) == everyone[:1]
    assert titles(where=["price>9.5"]) == everyone[1:2]
    assert titles(since="2025-10-09T08:53:21Z") == everyone[1:]
    assert titles(since="30m") == []
    assert titles(job="books", limit=1) == everyone[:1]
    assert titles(job="other") == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"where": ["price"]}, "'price' is not a condition; write field=value"),
        ({"since": "yesterday"}, "'yesterday' is not a date or time; write a day like"),
        ({"since": ""}, "'' is not a date or time"),
    ],
)
def test_what_cannot_be_understood_is_told(options: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        items("items.db", **options)


def test_bookkeeping_is_told_if_it_is_wanted(weft: Weft, database: Path) -> None:
    [line] = weft("items", "--all", "--limit", "1", "--format", "jsonl").stdout.splitlines()
    assert json.loads(line) == BOOKS[0] | {
        "_key": b"books0".ljust(16).hex(),
        "_job": "books",
        "_page": "http://a/",
        "_fetched_at": "2025-10-09T08:53:20Z",
    }


@pytest.mark.usefixtures("database")
def test_csv_has_a_column_for_each_field_of_any_item(
    weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")  # CSV is UTF-8, whatever the terminal is
    process = weft.start("items", "--format", "csv")
    raw, _ = process.communicate(timeout=60)
    rows = list(csv.reader(io.StringIO(raw)))
    assert rows == [
        ["title", "price", "author", "tags"],
        ["Brown [bold]Bread[/]", "9.5", '{"name":"Ann"}', ""],
        ['Büro, "quoted"\nand cut', "12", "", '["x","y"]'],
        ["東京", "", '{"name":"Bo"}', ""],
    ]


def test_a_table_shows_what_fits_and_tells_the_rest(
    database: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def told(path: Path, **options: Any) -> str:
        items(str(path), **options)
        return capfd.readouterr().out

    table = told(database)
    assert "Brown [bold]Bread[/]" in table
    assert 'Büro, "quoted" and cut' in table
    assert table.endswith("\n3 items.\n")
    assert "The first 1 item; --limit shows more." in told(database, limit=1)
    assert told(database, where=["price>99"]) == "No items.\n"
    put(tmp_path / "wide.db", [{f"field{n}": "x" * 100 for n in range(20)}])
    wide = told(tmp_path / "wide.db")
    assert "xxx…" in wide
    assert "; no room for field4, field5, " in wide
    assert max(map(len, wide.splitlines()[:-1])) <= 200


def test_json_lines_are_read_too(weft: Weft, tmp_path: Path) -> None:
    put(tmp_path / "out.jsonl", BOOKS)
    ended = weft("items", "out.jsonl", "--where", "title~büro", "--format", "csv")
    assert ended.stdout.startswith("title,price,tags\n")
    refused = weft("items", "out.jsonl", "--since", "2d")
    assert refused.returncode == 1
    assert "leave out --job and --since, or let crawls write into a database" in refused.stderr


def test_a_closed_pipe_ends_it_quietly(tmp_path: Path) -> None:
    put(tmp_path / "many.db", [{"n": n, "text": "x" * 1000} for n in range(3000)])
    for form in ("jsonl", "csv"):
        process = subprocess.Popen(
            [WEFT, "items", "many.db", "--format", form],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        assert process.stderr
        assert os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        process.wait(timeout=60)


# Where a job has put its items


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=5)) as server:
        yield server


def count_items(weft: Weft, *arguments: str) -> int:
    read = weft("items", "--format", "jsonl", *arguments)
    assert read.returncode == 0, read.stderr
    return len(read.stdout.splitlines())


@pytest.mark.parametrize(
    ("output", "crew"),
    [
        ("pages.jsonl", ()),
        ("out/pages.db", ()),
        ("pages.json", ("--workers", "2")),
        ("warc://pages", ()),
    ],
)
def test_items_are_found_where_the_crawl_has_put_them(
    weft: Weft, site: SiteServer, output: str, crew: tuple[str, ...]
) -> None:
    assert weft("crawl", site.url, "-o", output, "--job", "shop", *crew).returncode == 0
    assert count_items(weft) == 5
    assert count_items(weft, "--job", "shop") == 5


def test_a_database_that_two_jobs_share_is_asked_for_one(weft: Weft, site: SiteServer) -> None:
    for job in ("one", "two"):
        assert weft("crawl", site.url, "-o", "both.db", "--job", job).returncode == 0
    assert count_items(weft, "--job", "two") == 5
    assert count_items(weft, "both.db") == 10


def test_of_several_sinks_one_is_read(weft: Weft, site: SiteServer) -> None:
    outputs = ("-o", "pages.csv", "-o", "pages.jsonl")
    assert weft("crawl", site.url, *outputs).returncode == 0
    assert count_items(weft) == 5


def test_it_is_told_where_earlier_items_are(weft: Weft, site: SiteServer) -> None:
    assert weft("crawl", site.url, "-o", "a.jsonl", "--max-pages", "2").returncode == 0
    again = weft("crawl", site.url, "-o", "b.jsonl")
    assert again.returncode == 0
    assert "a.jsonl; from now on they go to" in again.stderr
    read = weft("items", "--format", "jsonl")
    assert "Earlier items of this job are in" in read.stderr
    assert "a.jsonl" in read.stderr
    assert len(read.stdout.splitlines()) + count_items(weft, "a.jsonl") == 5


def test_a_job_without_items_says_so(weft: Weft, site: SiteServer) -> None:
    assert weft("crawl", site.url, "-s", "WEFT_SINKS=").returncode == 0
    read = weft("items")
    assert read.returncode == 1
    assert "keeps no items" in read.stderr


def test_files_on_a_server_are_read_from_the_job(weft: Weft, site: SiteServer) -> None:
    with started(FtpServer) as ftp:
        assert weft("crawl", site.url, "-o", ftp.address("pages.csv")).returncode == 0
    assert count_items(weft) == 5


# A password is nowhere but in the command, or in the project


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDbServer]:
    with started(MariaDbServer) as server:
        server.ask("CREATE DATABASE shop")
        server.ask("CREATE USER me IDENTIFIED BY 'h/u?sh'; GRANT ALL ON shop.* TO me")
        yield server


def test_a_password_is_not_kept(weft: Weft, site: SiteServer, mariadb: MariaDbServer) -> None:
    output = mariadb.address("shop", "kept", "me", "h/u?sh")
    assert weft("crawl", site.url, "-o", output, "--job", "shop").returncode == 0
    files = [path for path in weft.directory.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"h/u?sh" not in path.read_bytes()
        assert b"h%2Fu%3Fsh" not in path.read_bytes()
    read = weft("items")
    assert read.returncode == 1
    told = " ".join(read.stderr.split())
    assert "whose password is not stored" in told
    assert f"weft items '{output.replace('h%2Fu%3Fsh', 'PASSWORD')}'" in told
    assert count_items(weft, output, "--job", "shop") == 5


def test_the_password_of_a_project_is_found_there(
    weft: Weft, site: SiteServer, mariadb: MariaDbServer
) -> None:
    output = mariadb.address("shop", "project", "me", "h/u?sh")
    (weft.directory / "scrapy.cfg").write_text("[settings]\ndefault = shop\n")
    (weft.directory / "shop.py").write_text(f"WEFT_SINKS = [{output!r}]\n")
    assert weft("crawl", site.url, "-o", output).returncode == 0
    assert count_items(weft) == 5

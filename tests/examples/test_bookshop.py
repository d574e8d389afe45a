# ruff: noqa: RUF001 (the titles are Chinese, and so are their commas)
"""The example of the book shop does what its README says."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from decimal import Decimal
from pathlib import Path

import pytest

from launchers.mariadb import MariaDbServer
from launchers.sqlserver import program
from onecommand import copy_of, running, shell_blocks
from running import Weft

BOOKS = 300

#: Some books of the shop: in Chinese, of two authors, without a description, with signs of HTML.
#: Price, author and description by name and source.
EXPECTED = {
    ("分布式系统导论（第1号）", "http://img.bookshop.example/covers/1.jpg"): (
        Decimal("89.09"),
        "王小明",
        "《分布式系统导论（第1号）》从零开始，由浅入深，配有大量插图与示例，适合每一位读者细细品味。",
    ),
    ("网络爬虫简史（第14号）", "http://img.bookshop.example/covers/14.jpg"): (
        Decimal("1118.56"),
        "李清",
        "《网络爬虫简史（第14号）》从零开始，由浅入深，配有大量插图与示例，适合每一位读者细细品味。",
    ),
    ("网络爬虫简史（第50号）", "http://img.bookshop.example/covers/50.jpg"): (
        Decimal("369.40"),
        "王小明",
        "NULL",
    ),
    ("Introduction to <Markup>, No. 123", "http://img.bookshop.example/covers/123.jpg"): (
        Decimal("150.27"),
        "Tomás Núñez",
        "Introduction to <Markup>, No. 123 begins where other books end, and takes its time. "
        "With maps and an index.",
    ),
}

Ask = Callable[[str], list[list[str]]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copy_of("bookshop", tmp_path)


@pytest.fixture
def has_mariadb() -> None:
    if program("mariadbd") is None:
        assert not os.environ.get("CI"), "mariadbd is missing"
        pytest.skip("mariadbd is missing")


@pytest.fixture
def mariadb(has_mariadb: None) -> Iterator[MariaDbServer]:
    with MariaDbServer() as server:
        yield server


def ask_mariadb(words: list[str], query: str) -> list[list[str]]:
    command = [*words[:-1], "--batch", "--raw", "--skip-column-names", f"--execute={query}"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in told.splitlines()]


def ask_sqlite(words: list[str], query: str) -> list[list[str]]:
    with closing(sqlite3.connect(words[1])) as connection:
        rows = connection.execute(query).fetchall()
    return [["NULL" if value is None else str(value) for value in row] for row in rows]


def check_table(ask: Ask) -> None:
    """Every book once, and some of them to the letter."""
    counted = ask("SELECT COUNT(*), COUNT(DISTINCT name), COUNT(DISTINCT _page) FROM books")
    assert counted == [[str(BOOKS)] * 3]
    names = ", ".join(repr(name) for name, _ in EXPECTED)
    columns = "name, source, price, author, description"
    found = ask(f"SELECT {columns} FROM books WHERE name IN ({names})")
    books = {(name, source): (Decimal(price), *rest) for name, source, price, *rest in found}
    assert books == EXPECTED


@pytest.mark.usefixtures("has_mariadb")
def test_one_command_fills_a_table_of_mariadb(root: Path) -> None:
    with running("bookshop", root, f"--books={BOOKS}", "--keep") as run:
        words = shlex.split(run.wait_for(r"Look at the table:\n(.+)\n")[1])
        assert len(ask_mariadb(words, words[-1].removeprefix("--execute="))) == 10
        check_table(lambda query: ask_mariadb(words, query))
        assert "The table is in a MariaDB of its own" in run.said()
        assert f"{BOOKS} books are in the table after" in run.said()
        [known] = re.findall(r"The Bloom filter knows (\d+) URLs, in [\d,]+ bytes\.", run.said())
        assert int(known) > BOOKS
        assert "18,000 in 1 hour" in run.said()
        assert run.interrupt() == 0


@pytest.mark.long
def test_without_mariadb_it_is_a_table_of_sqlite(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with running("bookshop", root, f"--books={BOOKS}", "--keep") as run:
        words = shlex.split(run.wait_for(r"Look at the table:\n(.+)\n")[1])
        check_table(lambda query: ask_sqlite(words, query))
        assert "The table is in SQLite (mariadb" in run.said()
        assert run.interrupt() == 0


@pytest.mark.long
def test_ctrl_c_in_the_middle_ends_everything(root: Path) -> None:
    with running("bookshop", root) as run:
        run.wait_for(r"s · +[1-9][\d,]* rows · worker \d+: .* · worker \d+: ")
        assert run.interrupt() == 130
        assert "Traceback" not in run.said()


@pytest.mark.long
def test_the_commands_for_the_hand_work(
    root: Path, open_shop: Callable[[str], AbstractContextManager[str]], mariadb: MariaDbServer
) -> None:
    """As they stand in the README, but for the addresses of shop and database."""
    _, [_, open_it], [_, *crawls] = shell_blocks("bookshop")
    mariadb.ask("CREATE DATABASE bookshop")
    table = mariadb.address("bookshop", "books")
    weft = Weft(root / "examples/bookshop")
    with open_shop(open_it) as url:
        for crawl in crawls:
            words = crawl.replace("mysql://me:secret@localhost/bookshop/books", table).split()
            ended = weft(*words[1:], "-a", f"shop={url}")
            assert f"and {BOOKS} items" in ended.stdout, ended.stderr
    check_table(lambda query: mariadb.ask(query, "bookshop"))
    assert len((weft.directory / "books.jsonl").read_text().splitlines()) == BOOKS

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from weft.errors import StoreError, StoreFormatError
from weft.sinks import SqliteSink
from weft.testing.sink_contract import numbered, store


class FixedClock:
    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(sql)


async def assert_refused(path: Path, error: type[StoreError], text: str) -> None:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(error, match=text) as caught:
        await store(SqliteSink(path))
    assert str(path) in str(caught.value)
    assert before is None or path.read_bytes() == before


async def test_update_keeps_the_place_and_renews_the_time(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    await store(SqliteSink(path, clock=FixedClock(1000)), [numbered(1), numbered(2)])
    await store(SqliteSink(path, clock=FixedClock(2000)), [numbered(1, v=2)])
    rows = query(path, "SELECT id, item, stored_at_ms FROM items")
    assert rows == [(1, '{"number":1,"v":2}', 2000), (2, '{"number":2}', 1000)]


async def test_close_leaves_one_file(tmp_path: Path) -> None:
    await store(SqliteSink(tmp_path / "items.db"), [numbered(1)])
    assert [file.name for file in tmp_path.iterdir()] == ["items.db"]


async def test_missing_directories_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "items.db"
    await store(SqliteSink(path), [numbered(1)])
    assert query(path, "SELECT count(*) FROM items") == [(1,)]


async def test_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    await store(SqliteSink(path), [numbered(1)])
    change(path, "PRAGMA user_version = 99")
    await assert_refused(path, StoreFormatError, "format 99.*upgrade Weft")


async def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    change(path, "CREATE TABLE items (name TEXT)")
    await assert_refused(path, StoreError, "another program; choose another output")


@pytest.mark.parametrize("size", [2, 50, 100, 511, 512, 5000])
async def test_file_that_is_no_database_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "items.db"
    path.write_bytes(b"x" * size)
    await assert_refused(path, StoreError, "not an SQLite database; move it away")


async def test_empty_file_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    path.touch()
    await store(SqliteSink(path), [numbered(1)])
    assert query(path, "SELECT count(*) FROM items") == [(1,)]


async def test_directory_as_path_is_refused(tmp_path: Path) -> None:
    await assert_refused(tmp_path, StoreError, "is a directory; name a file")


async def test_file_as_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    await assert_refused(tmp_path / "file" / "items.db", StoreError, "cannot be used")


async def test_reader_does_not_hold_up_the_sink(tmp_path: Path) -> None:
    path = tmp_path / "items.db"

    sink = SqliteSink(path)
    await sink.open()
    await sink.store([numbered(1)])
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM items").fetchone() == (1,)
        await sink.store([numbered(2)])
        await sink.close()
        assert reader.execute("SELECT count(*) FROM items").fetchone() == (1,)
    assert query(path, "SELECT count(*) FROM items") == [(2,)]


def test_several_sinks_may_open_and_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "items.db"

    def write(number: int) -> None:
        batches = [[numbered(0), numbered(number * 100 + n)] for n in range(1, 6)]
        asyncio.run(store(SqliteSink(path), *batches))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert query(path, "SELECT count(*) FROM items") == [(21,)]


async def test_deleted_file_is_an_error_and_a_new_one_is_made_by_open(tmp_path: Path) -> None:
    path = tmp_path / "items.db"

    sink = SqliteSink(path)
    await sink.open()
    path.unlink()
    with pytest.raises(StoreError, match="moved or deleted"):
        await sink.store([numbered(1)])
    await sink.close()
    await store(sink, [numbered(1)])
    assert query(path, "SELECT count(*) FROM items") == [(1,)]

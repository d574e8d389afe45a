"""Items that are read back from files."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from weft.errors import StoreError, StoreFormatError, StoreMissingError
from weft.sinks import JsonLinesSink, KeyedItem, SharedJsonLinesSink, Sink, SqliteSink
from weft.sinks.readback import BATCH, Query, ReadableSink, StoredItem
from weft.testing.clock import FakeClock
from weft.testing.sink_contract import numbered, numbered_items
from weft.testing.waiting import until

FORMAT_1 = """
    CREATE TABLE items (
        id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, item TEXT NOT NULL,
        stored_at_ms INTEGER NOT NULL
    );
    INSERT INTO items (key, item, stored_at_ms)
        VALUES (x'0a', '{"n": 1}', 1000), (x'0b', '{"n": 2}', 2000);
    PRAGMA application_id = 0x57656674;
    PRAGMA user_version = 1;
"""


async def stored(sink: Sink, items: Sequence[KeyedItem]) -> None:
    await sink.open()
    try:
        await sink.store(items)
    finally:
        await sink.close()


async def read_all(sink: Sink, query: Query) -> list[StoredItem]:
    assert isinstance(sink, ReadableSink)
    return [item async for item in sink.read(query)]


async def read(sink: Sink, query: Query | None = None) -> list[StoredItem]:
    return await read_all(sink, query or Query())


def numbers(items: Sequence[StoredItem]) -> list[object]:
    return [item.fields["number"] for item in items]


def lines_sink(directory: Path) -> JsonLinesSink:
    return JsonLinesSink(directory / "out.jsonl", directory / "index")


# SQLite


async def test_what_sqlite_has_stored_is_read_with_all_that_is_known(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "items.db", "shop")
    item = KeyedItem(bytes(range(16)), {"a": [1, None, "ü"]}, "http://a/", 1234)
    await stored(sink, [item])
    [found] = await read(sink)
    key = "000102030405060708090a0b0c0d0e0f"
    assert found == StoredItem(key, "shop", "http://a/", 1234, {"a": [1, None, "ü"]})


@pytest.mark.parametrize("count", [0, 1, BATCH - 1, BATCH, BATCH + 1])
async def test_any_number_of_items_is_read_in_order(tmp_path: Path, count: int) -> None:
    wanted = [*range(count)][::-1]
    for sink in (SqliteSink(tmp_path / "items.db"), lines_sink(tmp_path)):
        await stored(sink, numbered_items(wanted))
        assert numbers(await read(sink)) == wanted


async def test_reading_leaves_no_files_behind(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "items.db")
    await stored(sink, [numbered(1)])
    before = (tmp_path / "items.db").read_bytes()
    await read(sink)
    assert [path.name for path in tmp_path.iterdir()] == ["items.db"]
    assert (tmp_path / "items.db").read_bytes() == before


async def test_a_reader_and_a_writer_do_not_mind_each_other(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "items.db")
    await sink.open()
    await sink.store(numbered_items(range(BATCH + 1)))
    found = sink.read(Query())
    seen = [await anext(found)]
    await sink.store([numbered(BATCH + 1)])
    await sink.close()
    seen += [item async for item in found]
    assert numbers(seen) == [*range(BATCH + 2)]


async def test_a_reader_may_stop_early(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "items.db")
    await stored(sink, numbered_items(range(2 * BATCH)))
    async for item in sink.read(Query()):
        assert item.fields["number"] == 0
        break

    def is_closed() -> bool:
        return [path.name for path in tmp_path.iterdir()] == ["items.db"]

    await until(is_closed, "the reader has left nothing behind")


async def test_items_of_one_job_are_found(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    for number, job in enumerate(["one", "two", "one"]):
        await stored(SqliteSink(path, job), [numbered(number)])
    assert numbers(await read(SqliteSink(path), Query(job="one"))) == [0, 2]
    assert numbers(await read(SqliteSink(path), Query(job="none"))) == []
    assert numbers(await read(SqliteSink(path))) == [0, 1, 2]


async def test_items_since_a_moment_are_found(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "items.db", clock=FakeClock(5000))
    times = [1000, 2000, 0, 3000]  # of the third nobody knows: when it was stored counts
    items = [KeyedItem(bytes([n] * 16), {"number": n}, "", at) for n, at in enumerate(times)]
    await stored(sink, items)
    assert numbers(await read(sink, Query(since_ms=2000))) == [1, 2, 3]
    assert numbers(await read(sink, Query(since_ms=2001))) == [2, 3]
    assert numbers(await read(sink, Query(since_ms=5001))) == []


async def test_a_file_of_an_older_weft_is_read_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(FORMAT_1)
    before = path.read_bytes()
    assert await read(SqliteSink(path), Query(job="any", since_ms=2000)) == [
        StoredItem("0b", "", "", 0, {"n": 2})
    ]
    assert len(await read(SqliteSink(path))) == 2
    assert path.read_bytes() == before


async def test_a_file_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    shared = SharedJsonLinesSink(tmp_path / "out.jsonl", tmp_path / "index", tmp_path / "spools")
    for sink in (SqliteSink(tmp_path / "items.db"), lines_sink(tmp_path), shared):
        with pytest.raises(StoreMissingError, match=r"there is no file .* crawl something first"):
            await read(sink)
    assert list(tmp_path.iterdir()) == []


async def test_a_database_without_items_of_ours_is_told(tmp_path: Path) -> None:
    empty, other, newer, text = (tmp_path / f"{n}.db" for n in range(4))
    empty.touch()
    with pytest.raises(StoreMissingError, match=r"nothing in .* yet"):
        await read(SqliteSink(empty))
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE items (x)")
    with pytest.raises(StoreError, match="does not contain the items of a crawl; name a file"):
        await read(SqliteSink(other))
    with closing(sqlite3.connect(newer)) as database:
        database.executescript(FORMAT_1 + "PRAGMA user_version = 99")
    with pytest.raises(StoreFormatError, match=r"has format 99.*upgrade Weft"):
        await read(SqliteSink(newer))
    text.write_text("no database " * 100)
    with pytest.raises(StoreError, match="is not an SQLite database"):
        await read(SqliteSink(text))


# JSON lines


async def test_the_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    sink = lines_sink(tmp_path)
    (tmp_path / "out.jsonl").write_text('{"number":1}\n\n{"number":2}\n{"numb')
    assert numbers(await read(sink)) == [1, 2]
    (tmp_path / "out.jsonl").write_text('{"number":1}\n{"number":2}')
    assert numbers(await read(sink)) == [1, 2]


@pytest.mark.parametrize("line", [b"{half\n", b"[1]\n", b"3\n", b'{"a":"\xff"}\n'])
async def test_a_line_that_is_no_item_is_told_with_its_number(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "out.jsonl").write_bytes(b'{"number":1}\n' + line)
    with pytest.raises(StoreError, match=r"line 2 of .*out.jsonl is not an item"):
        await read(lines_sink(tmp_path))


@pytest.mark.parametrize("query", [Query(job="shop"), Query(since_ms=1)])
async def test_lines_cannot_be_asked_for_what_they_do_not_keep(
    tmp_path: Path, query: Query
) -> None:
    sink = lines_sink(tmp_path)
    await stored(sink, [numbered(1)])
    with pytest.raises(StoreError, match=r"leave out --job and --since, or .* -o items.db"):
        await read(sink, query)


async def test_what_several_workers_share_is_read_as_one_file(tmp_path: Path) -> None:
    sink = SharedJsonLinesSink(tmp_path / "out.jsonl", tmp_path / "index", tmp_path / "spools")
    await stored(sink, numbered_items([2, 1]))
    assert numbers(await read(sink)) == [2, 1]

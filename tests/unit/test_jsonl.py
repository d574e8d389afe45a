import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from weft.errors import StoreError, StoreLockedError
from weft.sinks import JsonLinesSink, KeyedItem
from weft.sinks.disk.lockedfile import LockedFile
from weft.sinks.jsonl import sink as jsonl_sink
from weft.sinks.jsonl.keys import KeyIndex
from weft.sinks.jsonl.lines import whole_lines_bytes
from weft.testing.sink_contract import numbered, numbered_items, store

FIRST = numbered_items([1, 2])
LAST = [numbered(3, text="Zürich"), numbered(4, list=[1])]
FIRST_BYTES = b'{"number":1}\n{"number":2}\n'
LAST_BYTES = '{"number":3,"text":"Zürich"}\n{"number":4,"list":[1]}\n'.encode()
LAST_LINE_START = len(FIRST_BYTES) + LAST_BYTES.index(b"\n") + 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "items.jsonl"


def sink_at(path: Path) -> JsonLinesSink:
    return JsonLinesSink(path, path.parent / "job" / "index")


async def store_at(path: Path, *batches: Sequence[KeyedItem]) -> None:
    await store(sink_at(path), *batches)


def read_numbers(path: Path) -> list[object]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line)["number"] for line in lines]


def replace(path: Path, content: bytes | None) -> None:
    path.unlink()
    if content is not None:
        path.write_bytes(content)


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


EVERY_BYTE_OF_THE_LAST_BATCH = range(len(FIRST_BYTES), len(FIRST_BYTES + LAST_BYTES) + 1)


# A batch that was cut short. The index is on disk before the lines are written, so a file that ends
# anywhere in the last batch is what any kill can leave behind.


@pytest.mark.parametrize("size", EVERY_BYTE_OF_THE_LAST_BATCH)
async def test_batch_that_was_cut_short_is_completed(path: Path, size: int) -> None:
    await store_at(path, FIRST, LAST)
    path.write_bytes((FIRST_BYTES + LAST_BYTES)[:size])
    await store_at(path, LAST, FIRST)
    assert path.read_bytes() == FIRST_BYTES + LAST_BYTES


@pytest.mark.parametrize("size", EVERY_BYTE_OF_THE_LAST_BATCH)
async def test_blocks_that_never_reached_the_disk_are_written_again(path: Path, size: int) -> None:
    """After a power failure the file can have its length, but zeros for content."""
    await store_at(path, FIRST, LAST)
    whole = FIRST_BYTES + LAST_BYTES
    path.write_bytes(whole[:size].ljust(len(whole), b"\0"))
    await store_at(path, LAST, FIRST)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("size", EVERY_BYTE_OF_THE_LAST_BATCH)
async def test_next_batch_after_a_cut_starts_on_a_line_of_its_own(path: Path, size: int) -> None:
    await store_at(path, FIRST, LAST)
    path.write_bytes((FIRST_BYTES + LAST_BYTES)[:size])
    await store_at(path, [numbered(5)])
    await store_at(path, FIRST, LAST, [numbered(5)])
    assert sorted(read_numbers(path), key=str) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("size", range(LAST_LINE_START, len(FIRST_BYTES + LAST_BYTES)))
async def test_half_written_last_line_without_index(path: Path, size: int) -> None:
    whole = FIRST_BYTES + LAST_BYTES
    path.write_bytes(whole[:size])
    await store_at(path, [numbered(5)])
    is_complete = size == len(whole) - 1
    kept = whole if is_complete else whole[:LAST_LINE_START]
    assert path.read_bytes() == kept + b'{"number":5}\n'


async def test_cut_is_logged_with_its_size(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await store_at(path, FIRST)
    path.write_bytes(FIRST_BYTES[:-5])
    with caplog.at_level(logging.WARNING):
        await store_at(path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: cut off 8 bytes of half-written lines"
    ]


async def test_nothing_is_logged_when_all_is_well(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await store_at(path, FIRST)
    await store_at(path, FIRST, LAST)
    assert caplog.records == []


@pytest.mark.parametrize("size", [len(FIRST_BYTES), len(FIRST_BYTES) + 5, LAST_LINE_START + 5])
@pytest.mark.parametrize(
    "step",
    [
        (jsonl_sink, "repair_lines"),
        (LockedFile, "cut"),
        (KeyIndex, "shorten"),
        (LockedFile, "append"),
    ],
)
async def test_repair_that_was_interrupted_is_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[object, str], size: int
) -> None:
    def die(*arguments: object) -> None:
        raise KeyboardInterrupt

    await store_at(path, FIRST, LAST)
    path.write_bytes((FIRST_BYTES + LAST_BYTES)[:size])
    with monkeypatch.context() as patch:
        patch.setattr(*step, die)
        with suppress(KeyboardInterrupt):
            await store_at(path, LAST)
    await store_at(path, LAST, FIRST)
    assert path.read_bytes() == FIRST_BYTES + LAST_BYTES


# Files that others have touched.


async def test_deleted_file_starts_again(path: Path) -> None:
    await store_at(path, FIRST, LAST)
    path.unlink()
    await store_at(path, LAST, FIRST)
    assert read_numbers(path) == [3, 4, 1, 2]


async def test_file_deleted_after_a_cut_starts_again(path: Path) -> None:
    await store_at(path, FIRST, LAST)
    path.write_bytes(FIRST_BYTES + b"{")
    await store_at(path)
    path.unlink()
    await store_at(path, FIRST)
    assert read_numbers(path) == [1, 2]


@pytest.mark.parametrize("replacement", [None, b"", b'{"number":0}\n', FIRST_BYTES * 9])
async def test_file_replaced_during_the_crawl_gets_what_follows(
    path: Path, replacement: bytes | None
) -> None:
    sink = sink_at(path)
    await sink.open()
    await sink.store(FIRST)
    replace(path, replacement)
    await sink.store(LAST)
    await sink.close()
    assert path.read_bytes() == (replacement or b"") + LAST_BYTES


@pytest.mark.parametrize("size", [0, 1, 20, 40, 55, 80, 300])
async def test_different_file_is_kept_and_gets_all_items(path: Path, size: int) -> None:
    await store_at(path, FIRST, LAST)
    other = (json.dumps({"number": "other", "pad": "x" * size}) + "\n").encode()
    path.write_bytes(other)
    await store_at(path, FIRST, LAST)
    assert path.read_bytes() == other + FIRST_BYTES + LAST_BYTES


async def test_different_file_with_lines_of_the_same_length_gets_all_items(path: Path) -> None:
    await store_at(path, FIRST)
    other = b'{"number":7}\n{"number":8}\n{"number":9}\n'
    path.write_bytes(other)
    await store_at(path, FIRST)
    assert path.read_bytes() == other + FIRST_BYTES


async def test_what_others_appended_stays_and_no_item_comes_twice(path: Path) -> None:
    await store_at(path, FIRST)
    append(path, b'{"number":"x"}\n')
    await store_at(path, FIRST, LAST)
    assert read_numbers(path) == [1, 2, "x", 3, 4]


async def test_what_others_append_during_the_crawl_stays(path: Path) -> None:
    sink = sink_at(path)
    await sink.open()
    await sink.store(FIRST)
    append(path, b'{"number":"x"}')
    await sink.store(FIRST)
    await sink.store(LAST)
    await sink.close()
    assert read_numbers(path) == [1, 2, "x", 3, 4]


async def test_lines_removed_at_the_end_can_be_stored_again(path: Path) -> None:
    await store_at(path, FIRST, LAST)
    path.write_bytes(FIRST_BYTES + LAST_BYTES[: LAST_BYTES.index(b"\n") + 1])
    await store_at(path, FIRST, LAST)
    assert read_numbers(path) == [1, 2, 3, 4]


@pytest.mark.parametrize("line", [b'{"a": NaN}', b'"\\ud800"', b"[1]", b'{"number":1}\r'])
async def test_foreign_last_line_gets_its_newline(path: Path, line: bytes) -> None:
    path.write_bytes(b"no json\n" + line)
    await store_at(path, FIRST)
    assert path.read_bytes() == b"no json\n" + line + b"\n" + FIRST_BYTES


async def test_long_half_line_is_cut_off(path: Path) -> None:
    path.write_bytes(b'{"number":0}\n' + b'{"x":"' + b"y" * 200_000)
    await store_at(path, FIRST)
    assert path.read_bytes() == b'{"number":0}\n' + FIRST_BYTES


# Places where no file can be.


async def test_directory_as_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.mkdir()
    with pytest.raises(StoreError, match="is a directory; name a file"):
        await store_at(path)


async def test_file_as_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await store(JsonLinesSink(tmp_path / "file" / "items.jsonl", tmp_path / "index"))


async def test_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a regular file"):
        await store(JsonLinesSink(Path("/dev/null"), tmp_path / "index"))


async def test_index_that_is_no_database_is_refused(path: Path) -> None:
    index = path.parent / "job" / "index"
    index.parent.mkdir()
    index.write_text("hello")
    with pytest.raises(StoreError, match=f"{index} is not an SQLite database"):
        await store_at(path, FIRST)


async def test_missing_directories_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "items.jsonl"
    await store_at(path, FIRST)
    assert path.read_bytes() == FIRST_BYTES


async def test_second_writer_is_refused(path: Path) -> None:
    first = sink_at(path)
    await first.open()
    with pytest.raises(StoreLockedError, match="another process is writing"):
        await sink_at(path).open()
    await first.close()
    await store(sink_at(path), FIRST)
    assert path.read_bytes() == FIRST_BYTES


# Failed writes.


@contextmanager
def failing(
    monkeypatch: pytest.MonkeyPatch, function: str, succeeding_calls: int
) -> Iterator[None]:
    """Let a function of `os` fail after some calls, until the end of the block."""
    calls = iter(range(succeeding_calls))

    def call(*arguments: object) -> object:
        if next(calls, None) is None:
            raise OSError(5, "Input/output error")
        if function == "write":  # and write no more than 10 bytes at once
            descriptor, data = arguments
            return original(descriptor, data[:10])  # type: ignore[index]
        return original(*arguments)

    with monkeypatch.context() as patch:
        original = getattr(os, function)
        patch.setattr(os, function, call)
        yield


@pytest.mark.parametrize(
    ("function", "succeeding_calls"),
    [("write", 0), ("write", 1), ("write", 4), ("fsync", 0)],
)
async def test_failed_store_can_be_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch, function: str, succeeding_calls: int
) -> None:
    sink = sink_at(path)
    await sink.open()
    await sink.store(FIRST)
    with failing(monkeypatch, function, succeeding_calls):
        for _ in range(2):
            with pytest.raises(StoreError, match="Input/output error"):
                await sink.store(LAST)
    assert read_numbers(path) == [1, 2]
    await sink.store([*FIRST, *LAST])
    await sink.close()
    assert path.read_bytes() == FIRST_BYTES + LAST_BYTES


@pytest.mark.parametrize(
    ("data", "length"),
    [(b"", 0), (b"{}", 0), (b"{}\n", 3), (b"{}\n{", 3), (b"{}\n{\n{}\n", 3), (b"\0\0\n", 0)],
)
def test_whole_lines(data: bytes, length: int) -> None:
    assert whole_lines_bytes(data) == length

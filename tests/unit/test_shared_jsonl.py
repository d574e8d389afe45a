import asyncio
import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from weft.errors import StoreError, StoreLockedError
from weft.sinks import KeyedItem, SharedJsonLinesSink
from weft.sinks.disk import filelock
from weft.sinks.disk.filelock import FileLock
from weft.sinks.disk.lockedfile import LockedFile
from weft.sinks.encoding import KeyedLine, encode_item
from weft.sinks.jsonl import shared, spool
from weft.sinks.jsonl.keys import KeyIndex
from weft.sinks.jsonl.sink import LineWriter
from weft.sinks.jsonl.spool import Spool, from_record, to_record
from weft.testing import until
from weft.testing.sink_contract import numbered, numbered_items, store

NEVER = float("inf")
RECORDS = [to_record(encode_item(item)) for item in numbered_items([1, 2, 3])]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "items.jsonl"


def spools_at(path: Path) -> Path:
    return path.parent / "job" / "spools"


def spool_files(path: Path) -> list[Path]:
    return sorted(spools_at(path).glob("*.part"))


def sink_at(path: Path, merge_every_s: float = NEVER) -> SharedJsonLinesSink:
    return SharedJsonLinesSink(path, path.parent / "job" / "index", spools_at(path), merge_every_s)


async def store_at(path: Path, *batches: Sequence[KeyedItem]) -> None:
    await store(sink_at(path), *batches)


def read_numbers(path: Path) -> list[int]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line)["number"] for line in lines]


def leave_spool(path: Path, content: bytes) -> None:
    """What a worker leaves that was killed."""
    spools_at(path).mkdir(parents=True, exist_ok=True)
    (spools_at(path) / "killed.part").write_bytes(content)


def remove(directory: Path) -> None:
    shutil.rmtree(directory)


def replace_by_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


# Several workers.


async def test_item_that_two_workers_store_is_there_once(path: Path) -> None:
    first, second = sink_at(path), sink_at(path)
    await first.open()
    await second.open()
    await first.store(numbered_items([1, 2]))
    await second.store(numbered_items([2, 3]))
    await second.close()
    await first.store(numbered_items([3, 4]))
    await first.close()
    assert sorted(read_numbers(path)) == [1, 2, 3, 4]
    assert spool_files(path) == []


async def test_who_closes_brings_its_own_items_and_leaves_those_of_the_living(path: Path) -> None:
    first, second = sink_at(path), sink_at(path)
    await first.open()
    await first.store([numbered(0)])  # the first items of a worker are merged at once
    await first.store([numbered(1)])
    await store(second, [numbered(2)], [numbered(3)])
    assert read_numbers(path) == [0, 2, 3]
    await first.close()
    assert read_numbers(path) == [0, 2, 3, 1]


async def test_output_follows_while_items_are_stored(path: Path) -> None:
    sink = sink_at(path, merge_every_s=0)
    await sink.open()
    for number in range(3):
        await sink.store([numbered(number)])
        assert read_numbers(path) == list(range(number + 1))
        assert [each.stat().st_size for each in spool_files(path)] == [0]
    await sink.close()
    assert read_numbers(path) == [0, 1, 2]


async def test_output_follows_when_nothing_more_is_stored(path: Path) -> None:
    sink = sink_at(path, merge_every_s=0.2)
    await sink.open()
    await sink.store([numbered(0)])
    await sink.store([numbered(1)])
    assert read_numbers(path) == [0]
    await until(lambda: read_numbers(path) == [0, 1], "the rest is merged, too")
    await sink.store([numbered(2)])
    await sink.store([numbered(3)])
    await sink.close()
    assert read_numbers(path) == [0, 1, 2, 3]


def test_many_workers_that_close_at_once_wait_for_each_other(path: Path) -> None:
    def work(number: int) -> None:
        asyncio.run(store_at(path, [numbered(0), numbered(number)], [numbered(number + 100)]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_numbers(path)) == [*range(11), *range(101, 111)]
    assert spool_files(path) == []


# Spools of workers that were killed.


async def test_spool_of_a_killed_worker_is_there_after_open(path: Path) -> None:
    leave_spool(path, b"".join(RECORDS))
    sink = sink_at(path)
    await sink.open()
    assert read_numbers(path) == [1, 2, 3]
    await sink.close()
    assert spool_files(path) == []


async def test_spool_of_a_worker_that_is_killed_later_is_merged_by_the_others(path: Path) -> None:
    sink = sink_at(path, merge_every_s=0)
    await sink.open()
    leave_spool(path, b"".join(RECORDS))
    await sink.store([numbered(3), numbered(4)])
    assert read_numbers(path) == [1, 2, 3, 4]
    leave_spool(path, to_record(encode_item(numbered(5))))
    await sink.close()
    assert read_numbers(path) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("is_padded", [False, True], ids=["cut off", "zeros from there on"])
def test_spool_that_was_cut_short_at_any_byte_gives_its_whole_items(
    tmp_path: Path, is_padded: bool
) -> None:
    whole = b"".join(RECORDS)
    ends = [len(b"".join(RECORDS[:count])) for count in (1, 2, 3)]
    for size in range(len(whole) + 1):
        content = whole[:size].ljust(len(whole) if is_padded else size, b"\0")
        (tmp_path / "a.part").write_bytes(content)
        left = Spool(tmp_path / "a.part")
        lines = [line for batch in left.batches() for line in batch]
        left.close()
        assert len(lines) == sum(end <= size for end in ends)


async def test_what_was_cut_short_is_logged_with_its_size(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    leave_spool(path, RECORDS[0] + RECORDS[1][:-5])
    await store_at(path, [numbered(4)])
    assert read_numbers(path) == [1, 4]
    assert [record.getMessage() for record in caplog.records] == [
        f"{spools_at(path) / 'killed.part'}: left out {len(RECORDS[1]) - 5} half-written bytes"
    ]


async def test_items_behind_a_damaged_one_are_kept(path: Path) -> None:
    leave_spool(path, RECORDS[0] + RECORDS[1].replace(b"2", b"7") + RECORDS[2])
    await store_at(path)
    assert read_numbers(path) == [1, 3]


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\n",
        b"x\n",
        b"00 00000000\n",
        b"zz 00000000 {}\n",
        b"00 0000000g {}\n",
        RECORDS[0][:-1],
    ],
)
def test_what_is_no_record_is_told_from_one(record: bytes) -> None:
    assert from_record(record) is None


def test_record_is_read_as_it_was_written() -> None:
    line = KeyedLine(bytes(range(16)), b'{"a": "b c  \xc3\xbc"}')
    assert from_record(to_record(line)) == line


async def test_newlines_in_prepared_json_do_not_break_the_line(path: Path) -> None:
    await store_at(path, [numbered(1, raw=msgspec.Raw(b"[1,\n2]"))])
    assert path.read_bytes() == b'{"number":1,"raw":[1, 2]}\n'


async def test_spool_is_read_in_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "BATCH_BYTES", 25)
    spools_at(path).mkdir(parents=True)
    left = Spool(spools_at(path) / "a.part")
    left.append(map(encode_item, numbered_items(range(1, 6))))
    assert [len(batch) for batch in left.batches()] == [3, 2]
    left.close()
    await store_at(path)
    assert read_numbers(path) == [1, 2, 3, 4, 5]


STEPS = [
    (LineWriter, "settle"),
    (LineWriter, "store"),
    (LockedFile, "append"),
    (LockedFile, "cut"),
    (KeyIndex, "add"),
    (Spool, "empty"),
    (Spool, "delete"),
    (FileLock, "touch"),
]


@pytest.mark.parametrize("step", STEPS, ids=[name for _, name in STEPS])
@pytest.mark.parametrize("succeeding_calls", range(4))
async def test_merge_that_was_interrupted_is_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[type, str], succeeding_calls: int
) -> None:
    monkeypatch.setattr(spool, "BATCH_BYTES", 20)
    sink = sink_at(path)
    await sink.open()
    await sink.store([numbered(3)])
    await sink.store(numbered_items([3, 4, 5]))
    leave_spool(path, b"".join(RECORDS))
    with monkeypatch.context() as patch:
        dying(patch, step, succeeding_calls)
        with suppress(KeyboardInterrupt):
            await sink.close()
    await store_at(path)
    assert sorted(read_numbers(path)) == [1, 2, 3, 4, 5]
    assert spool_files(path) == []


def dying(patch: pytest.MonkeyPatch, step: tuple[type, str], succeeding_calls: int) -> None:
    calls = iter(range(succeeding_calls))
    original = getattr(*step)

    def call(*arguments: object) -> object:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return original(*arguments)

    patch.setattr(*step, call)


# Starting over.


async def test_clear_takes_what_all_have_stored_and_keeps_what_they_store_later(path: Path) -> None:
    first, second = sink_at(path), sink_at(path)
    await first.open()
    await second.open()
    for sink in (first, second):
        await sink.store([numbered(1)])
        await sink.store([numbered(2)])
    await first.clear()
    assert read_numbers(path) == []
    await second.store([numbered(3)])
    await second.store([numbered(4)])
    await second.close()
    await first.store([numbered(5)])
    await first.close()
    assert read_numbers(path) == [3, 4, 5]
    assert spool_files(path) == []


async def test_worker_that_stores_nothing_after_a_clear_brings_nothing(path: Path) -> None:
    first, second = sink_at(path), sink_at(path)
    await first.open()
    await second.open()
    await second.store([numbered(1)])
    await second.store([numbered(2)])
    await first.clear()
    await second.close()
    await first.close()
    assert read_numbers(path) == []


async def test_clear_during_a_store_does_not_cost_its_items(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def append_and_clear(own: Spool, lines: Sequence[KeyedLine]) -> None:
        monkeypatch.setattr(Spool, "append", original)
        original(own, lines)
        asyncio.run(clear())

    async def clear() -> None:
        sink = sink_at(path)
        await sink.open()
        await sink.clear()
        await sink.close()

    original = Spool.append
    sink = sink_at(path)
    await sink.open()
    monkeypatch.setattr(Spool, "append", append_and_clear)
    await sink.store([numbered(1)])
    await sink.close()
    assert read_numbers(path) == [1]


async def test_directory_of_the_spools_is_made_again(path: Path) -> None:
    sink = sink_at(path)
    await sink.open()
    remove(spools_at(path))
    await sink.store([numbered(1)])
    await sink.close()
    assert read_numbers(path) == [1]


# Outputs that cannot be written.


@contextmanager
def locked_by_another(path: Path) -> Iterator[None]:
    file = LockedFile(path)
    try:
        yield
    finally:
        file.close()


async def test_close_tells_where_the_items_are_that_it_cannot_merge(path: Path) -> None:
    sink = sink_at(path)
    await sink.open()
    with locked_by_another(path):
        await sink.store([numbered(1)])
        await sink.store([numbered(2)])
        with pytest.raises(StoreLockedError, match="another process is writing to") as caught:
            await sink.close()
    assert f"are safe in {spools_at(path)}; run the same command" in str(caught.value)
    await sink.close()
    assert read_numbers(path) == []
    await store(sink)
    assert read_numbers(path) == [1, 2]
    assert spool_files(path) == []


async def test_output_that_is_locked_is_told_by_open(path: Path) -> None:
    with locked_by_another(path), pytest.raises(StoreLockedError) as caught:
        await store_at(path)
    assert "are safe in" not in str(caught.value)
    assert spool_files(path) == []


async def test_directory_as_path_is_refused_by_open(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreError, match="is a directory; name a file"):
        await store_at(path)


async def test_file_instead_of_the_spools_is_refused(path: Path) -> None:
    spools_at(path).parent.mkdir()
    spools_at(path).touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await store_at(path)


async def test_output_that_breaks_during_the_crawl_is_told_by_store(path: Path) -> None:
    sink = sink_at(path, merge_every_s=0)
    await sink.open()
    replace_by_directory(path)
    with pytest.raises(StoreError, match=r"is a directory.* are safe in"):
        await sink.store([numbered(1)])
    remove(path)
    await sink.store([numbered(2)])
    await sink.close()
    assert read_numbers(path) == [1, 2]


@pytest.mark.parametrize("failing", [("write",), ("fsync",), ("fsync", "ftruncate")])
async def test_failed_store_can_be_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: tuple[str, ...]
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(5, "Input/output error")

    sink = sink_at(path)
    await sink.open()
    await sink.store([numbered(0)])
    with monkeypatch.context() as patch:
        for function in failing:
            patch.setattr(os, function, fail)
        with pytest.raises(StoreError, match="Input/output error"):
            await sink.store([numbered(1, text="x" * 100)])
    await sink.store([numbered(2)])
    await sink.store([numbered(1)])
    await sink.close()
    assert read_numbers(path) == [0, 2, 1]


# Waiting.


async def test_worker_that_merges_and_does_not_get_on_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "STUCK_S", 0.02)
    sink = sink_at(path)
    await sink.open()
    with FileLock(spools_at(path) / "lock").locked(0):
        await sink.store([numbered(1)])
        with pytest.raises(StoreLockedError, match=r"makes no progress.* are safe in"):
            await sink.close()
    await store(sink)
    assert read_numbers(path) == [1]


def test_lock_is_waited_for_as_long_as_its_holder_gets_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0

    def sleep(_: float) -> None:
        nonlocal now_s
        now_s += 1
        if now_s <= 10:
            os.utime(tmp_path / "lock", ns=(now_s, now_s))

    monkeypatch.setattr(filelock, "monotonic_s", lambda: now_s)
    monkeypatch.setattr(time, "sleep", sleep)
    lock = FileLock(tmp_path / "lock")
    with lock.locked(0), pytest.raises(StoreLockedError, match="makes no progress"), lock.locked(3):
        pass
    assert now_s == 13


async def test_merge_shows_after_each_batch_that_it_gets_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs: list[FileLock] = []
    leave_spool(path, b"".join(RECORDS))
    monkeypatch.setattr(spool, "BATCH_BYTES", 1)
    monkeypatch.setattr(FileLock, "touch", lambda lock: signs.append(lock))
    await store_at(path)
    assert len(signs) == 1 + len(RECORDS) + 1  # open takes the lock and merges, close takes it


def test_lock_that_is_not_free_is_told_at_once(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    with lock.locked(0), pytest.raises(StoreLockedError), lock.locked(0):
        pass
    with lock.locked(0):
        pass


def test_closed_file_is_free_although_a_forked_child_has_a_copy(path: Path) -> None:
    file = LockedFile(path)
    copy = os.dup(file._descriptor)
    file.close()
    LockedFile(path).close()
    os.close(copy)


async def test_nothing_is_logged_when_all_is_well(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await store_at(path, numbered_items([1, 2]))
        await store_at(path, numbered_items([2, 3]), [numbered(4)])
    assert caplog.records == []

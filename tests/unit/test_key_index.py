"""The index of a file of JSON lines: what it is told it knows, sorted in or not."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from weft.sinks.disk.sqlitefile import APPLICATION_ID
from weft.sinks.jsonl import keys
from weft.sinks.jsonl.keys import KeyBatch, KeyIndex

FORMAT_1 = f"""
    CREATE TABLE keys (key BLOB PRIMARY KEY, end_byte INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE last_batch (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        start_byte INTEGER NOT NULL,
        end_byte INTEGER NOT NULL,
        digest BLOB NOT NULL
    );
    INSERT INTO keys VALUES (x'01', 10);
    INSERT INTO last_batch VALUES (1, 0, 10, x'00');
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = 1;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(path: Path) -> Iterator[KeyIndex]:
    with closing(KeyIndex(path)) as opened:
        yield opened


@pytest.fixture
def _sorts_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "SORTED_TOGETHER", 3)


def key(number: int) -> bytes:
    return number.to_bytes(2, "big")


def add(index: KeyIndex, *numbers: int) -> None:
    """Lines of ten bytes, each where its number says."""
    batch = KeyBatch(10 * numbers[0], 10 * numbers[-1] + 10, b"")
    index.add(batch, [(key(number), 10 * number + 10) for number in numbers])


def known(index: KeyIndex, most: int = 20) -> list[int]:
    found = index.known(map(key, range(most)))
    return [number for number in range(most) if key(number) in found]


def sorted_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM keys").fetchone()[0])


@pytest.mark.usefixtures("_sorts_soon")
def test_keys_are_known_before_and_after_they_are_sorted_in(path: Path) -> None:
    with closing(KeyIndex(path)) as index:
        for number in range(8):
            add(index, number)
            assert known(index) == list(range(number + 1))
    assert sorted_in(path) == 6
    with closing(KeyIndex(path)) as index:
        assert known(index) == list(range(8))
        add(index, 8)
        add(index, 9)
        assert known(index) == list(range(10))
        assert index.last_batch() == KeyBatch(90, 100, b"")
    assert sorted_in(path) == 9


@pytest.mark.usefixtures("_sorts_soon")
@pytest.mark.parametrize("kept", range(9))
def test_what_is_cut_off_is_forgotten_wherever_it_stands(index: KeyIndex, kept: int) -> None:
    for number in range(8):
        add(index, number)
    index.shorten(KeyBatch(0, 10 * kept, b""))
    assert known(index) == list(range(min(kept, 8)))
    add(index, 11, 12)
    assert known(index) == [*range(min(kept, 8)), 11, 12]


@pytest.mark.usefixtures("_sorts_soon")
def test_all_can_be_forgotten(index: KeyIndex) -> None:
    add(index, 0, 1, 2, 3)
    add(index, 4)
    index.forget_all()
    assert known(index) == []
    add(index, 0)
    assert known(index) == [0]


@pytest.mark.usefixtures("_sorts_soon")
@pytest.mark.parametrize("step", ["_sort_in", "_set_last"])
def test_a_batch_that_failed_is_not_known_and_can_be_repeated(
    index: KeyIndex, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*arguments: object) -> None:
        raise KeyboardInterrupt

    add(index, 0, 1, 2)
    with monkeypatch.context() as patch:
        patch.setattr(KeyIndex, step, fail)
        with pytest.raises(KeyboardInterrupt):
            add(index, 3, 4)
    assert known(index) == [0, 1, 2]
    add(index, 3, 4)
    assert known(index) == [0, 1, 2, 3, 4]


def test_many_keys_at_once(index: KeyIndex) -> None:
    most = 2 * keys.ASKED_TOGETHER + 10
    add(index, *range(0, most, 2))
    assert known(index, most) == list(range(0, most, 2))
    assert index.known([]) == set()


def test_an_index_of_an_older_weft_is_taken_over(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FORMAT_1)
    with closing(KeyIndex(path)) as index:
        assert index.known([b"\1", b"\2"]) == {b"\1"}
        assert index.last_batch() == KeyBatch(0, 10, b"\0")
        index.add(KeyBatch(10, 20, b""), [(b"\2", 20)])
        assert index.known([b"\1", b"\2"]) == {b"\1", b"\2"}

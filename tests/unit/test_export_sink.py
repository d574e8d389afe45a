import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from threading import Event
from typing import BinaryIO

import pytest

from weft.errors import ConfigError, StoreError, StoreMissingError
from weft.sinks import Sink, SinkConfig, SqliteSink, has_left_items, make_sink
from weft.sinks.files import ExportSink
from weft.sinks.files.address import read_address
from weft.sinks.files.formats import Rows, render_json_lines
from weft.sinks.files.journal import Journal
from weft.sinks.files.local import LocalDestination
from weft.sinks.files.state import STATE_TABLES, ExportState, Shown
from weft.sinks.files.whole import WholeOutlet
from weft.sinks.readback import Query
from weft.testing.sink_contract import numbered, numbered_items, store


def json_sink(directory: Path) -> Sink:
    return make_sink(str(directory / "items.json"), SinkConfig(directory / "job", job="shop"))


def read_numbers(path: Path) -> list[int]:
    return [item["number"] for item in json.loads(path.read_bytes())]


# Addresses


@pytest.mark.parametrize(
    "output",
    [
        *("items.json", "a/items.CSV", "items.xml", "items.parquet", "s3://b/p/", "s3://b"),
        *(
            "ftp://h/items.csv",
            "ftp://u:p@h:21/a/items.jsonl",
            "s3://b/p/items.parquet",
            "s3://b/p",
        ),
        "s3://k:s%2F@b/p?endpoint=http://127.0.0.1:1&region=eu-west-1",
    ],
)
def test_export_is_chosen(output: str) -> None:
    assert isinstance(make_sink(output, SinkConfig(Path("job"))), ExportSink)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("ftp://h/items", "'items' does not name a format.*.csv"),
        ("ftp://h/", "does not name a format"),
        ("s3://b/items.cvs", "'items.cvs' does not name a format.*ends in /"),
        ("ftp:///items.csv", "does not name a host"),
        ("ftp://h:x/items.csv", "is not a valid address"),
        ("ftp://h/a%0d%0aDELE b.csv", "control characters"),
        ("ftp://h/items.csv?x=1", "has unknown options"),
        ("s3://b/p?endpont=x", r"\?endpoint= and \?region="),
        ("s3://b:9000/p", "endpoint=http://host:port"),
        ("s3://k:se/cret@b/p", "write %2F"),
    ],
)
def test_bad_address_is_told(output: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text) as caught:
        make_sink(output, SinkConfig(Path("job")))
    assert "cret" not in str(caught.value)


def test_address_is_taken_apart() -> None:
    address = read_address("ftp://us%40er:p%2Fw@host:2121/a%20b/c.csv")
    assert address == ("us@er", "p/w", "host", 2121, "a b/c.csv", {})


def test_password_is_not_shown_and_does_not_change_the_journal(tmp_path: Path) -> None:
    config = SinkConfig(tmp_path)
    sinks = [make_sink(f"ftp://u:{each}@h/a.csv", config) for each in ("one", "two")]
    assert [sink.place for sink in sinks] == ["ftp://***@h/a.csv"] * 2
    assert len({str(vars(sink)["_path"]) for sink in sinks}) == 1


@pytest.mark.parametrize(
    ("output", "module", "extra"),
    [
        ("items.parquet", "pyarrow", "parquet"),
        ("ftp://h/items.parquet", "pyarrow", "parquet"),
        ("s3://b/p", "boto3", "s3"),
    ],
)
def test_missing_extra_is_told(
    output: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("weft.sinks.files.parquet", "weft.sinks.files.s3"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=rf"{module} is installed: pip install 'weft\[{extra}\]'"):
        make_sink(output, SinkConfig(Path("job")))


# One file


async def test_close_leaves_the_output_and_one_journal(tmp_path: Path) -> None:
    await store(json_sink(tmp_path), [numbered(1)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.json", "job"]
    assert sorted(path.suffix for path in (tmp_path / "job").iterdir()) == [".db", ".lock"]


async def test_crawl_without_items_leaves_an_empty_list(tmp_path: Path) -> None:
    await store(json_sink(tmp_path), [])
    assert read_numbers(tmp_path / "items.json") == []
    assert not has_left_items(tmp_path / "job")


@pytest.mark.parametrize(("content", "is_left"), [(b"", False), (b"x" * 1000, True)])
def test_journal_that_was_not_finished_has_no_items_and_a_broken_one_is_told(
    tmp_path: Path, content: bytes, is_left: bool
) -> None:
    (tmp_path / "export-x.db").write_bytes(content)
    assert has_left_items(tmp_path) is is_left


async def test_output_is_not_written_again_if_nothing_has_changed(tmp_path: Path) -> None:
    await store(json_sink(tmp_path), [numbered(1)])
    before = (tmp_path / "items.json").stat()
    await store(json_sink(tmp_path), [])
    assert (tmp_path / "items.json").stat() == before


async def test_deleted_output_is_written_again(tmp_path: Path) -> None:
    await store(json_sink(tmp_path), [numbered(1)])
    (tmp_path / "items.json").unlink()
    await store(json_sink(tmp_path), [])
    assert read_numbers(tmp_path / "items.json") == [1]


async def test_nothing_is_written_before_the_crawl_has_begun(tmp_path: Path) -> None:
    await store(json_sink(tmp_path))
    assert not (tmp_path / "items.json").exists()


async def test_file_of_someone_else_stays(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text("mine")
    with pytest.raises(
        StoreError, match=r"was not written by this job.*move it away, or choose another"
    ):
        await store(json_sink(tmp_path))
    assert (tmp_path / "items.json").read_text() == "mine"


async def test_empty_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "items.json").touch()
    await store(json_sink(tmp_path), [numbered(1)])
    assert read_numbers(tmp_path / "items.json") == [1]


async def test_output_that_someone_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    sink = json_sink(tmp_path)
    await sink.open()
    await sink.store([numbered(1)])
    (tmp_path / "items.json").write_text("mine")
    with pytest.raises(StoreError, match=r"has been changed since.*All items are safe in"):
        await sink.close()
    assert (tmp_path / "items.json").read_text() == "mine"
    (tmp_path / "items.json").unlink()
    assert has_left_items(tmp_path / "job")
    await store(sink, [])
    assert read_numbers(tmp_path / "items.json") == [1]


def test_who_opens_a_file_leaves_the_scratch_file_of_another_alone(tmp_path: Path) -> None:
    """Workers of a job share it: one may be about to put it in place."""
    destination = LocalDestination(tmp_path / "items.json", "token")
    destination.scratch.write_text("[]")
    LocalDestination(tmp_path / "items.json", "token").check()
    destination.put(lambda stamp: None, lambda: None)
    assert [path.name for path in tmp_path.iterdir()] == ["items.json"]


class Interrupted(Exception):
    pass


class Dying(LocalDestination):
    """Dies before it puts the file in place, or after."""

    is_before: bool

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        def note_and_die(stamp: str) -> None:
            note(stamp)
            if self.is_before:
                raise Interrupted

        super().put(note_and_die, sign)
        raise Interrupted


@pytest.mark.parametrize("deaths", list(product([True, False], repeat=3)))
async def test_output_is_known_after_any_deaths(tmp_path: Path, deaths: Sequence[bool]) -> None:
    output, journal = tmp_path / "items.jsonl", journal_in(tmp_path)
    for number, is_before in enumerate(deaths):
        destination = Dying(output, "token")
        destination.is_before = is_before
        sink = ExportSink(journal, "", WholeOutlet(journal, destination, render_json_lines))
        with pytest.raises(Interrupted):
            await store(sink, [numbered(number)])
        assert has_left_items(tmp_path)
    outlet = WholeOutlet(journal, LocalDestination(output, "token"), render_json_lines)
    await store(ExportSink(journal, "", outlet), [])
    assert len(output.read_bytes().splitlines()) == len(deaths)


async def test_clear_removes_the_output(tmp_path: Path) -> None:
    sink = json_sink(tmp_path)
    await store(sink, [numbered(1)])
    await sink.open()
    await sink.clear()
    await sink.close()
    assert not (tmp_path / "items.json").exists()
    await store(sink, [])
    assert read_numbers(tmp_path / "items.json") == []


async def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "items.json").symlink_to(tmp_path / "elsewhere" / "real.json")
    await store(json_sink(tmp_path), [numbered(1)])
    assert (tmp_path / "items.json").is_symlink()
    assert read_numbers(tmp_path / "elsewhere" / "real.json") == [1]


async def test_directory_as_output_is_told(tmp_path: Path) -> None:
    (tmp_path / "items.json").mkdir()
    with pytest.raises(StoreError, match="is a directory; name a file"):
        await store(json_sink(tmp_path))


async def test_workers_share_an_output(tmp_path: Path) -> None:
    sinks = [json_sink(tmp_path) for _ in range(3)]
    for sink in sinks:
        await sink.open()
    for number, sink in enumerate(sinks):
        await sink.store(numbered_items(range(number, number + 10)))
    await sinks[0].close()
    assert sorted(read_numbers(tmp_path / "items.json")) == list(range(12))
    await sinks[1].store([numbered(100)])
    await asyncio.gather(*(sink.close() for sink in sinks[1:]))
    assert sorted(read_numbers(tmp_path / "items.json")) == [*range(12), 100]


async def test_items_can_be_read_back(tmp_path: Path) -> None:
    sink = json_sink(tmp_path)
    assert isinstance(sink, ExportSink)
    with pytest.raises(StoreMissingError, match="on the machine that crawled"):
        [item async for item in sink.read(Query())]
    await store(sink, numbered_items(range(3)))
    assert [item.fields["number"] async for item in sink.read(Query(job="shop"))] == [0, 1, 2]


# When it is shown


class FixedClock:
    def __init__(self) -> None:
        self.at_ms = 1_000_000

    def now_ms(self) -> int:
        return self.at_ms


def journal_in(directory: Path) -> Path:
    return directory / "export-x.db"


async def test_output_is_not_written_too_often(tmp_path: Path) -> None:
    clock = FixedClock()
    output = tmp_path / "items.jsonl"
    destination = LocalDestination(output, "token")
    outlet = WholeOutlet(
        journal_in(tmp_path), destination, render_json_lines, every_s=30, clock=clock
    )
    await store(ExportSink(journal_in(tmp_path), "", outlet), [])

    async def lines_after(seconds: float, number: int) -> int:
        clock.at_ms += int(seconds * 1000)
        await store(SqliteSink(journal_in(tmp_path)), [numbered(number)])
        outlet.show(is_last=False)
        return len(output.read_bytes().splitlines())

    outlet.open()
    try:
        assert await lines_after(29, 1) == 0
        assert await lines_after(1, 2) == 2
        note_that_it_took(10, tmp_path, clock)
        assert await lines_after(80, 3) == 2
        assert await lines_after(10, 4) == 4
    finally:
        outlet.close()


def note_that_it_took(seconds: float, directory: Path, clock: FixedClock) -> None:
    journal = Journal(journal_in(directory), STATE_TABLES)
    state = ExportState(journal)
    journal.open()
    state.note_shown(Shown(state.version(), clock.at_ms, int(seconds * 1000)))
    journal.close()


async def test_items_are_stored_while_others_are_shown_and_close_does_not_wait_for_that(
    tmp_path: Path,
) -> None:
    has_begun = Event()

    def render_slowly(rows: Rows, output: BinaryIO) -> None:
        """The first time, until it is told to end."""
        while not has_begun.is_set() or len(list(rows())) == 1:
            has_begun.set()
        render_json_lines(rows, output)

    journal = journal_in(tmp_path)
    destination = LocalDestination(tmp_path / "items.jsonl", "token")
    sink = ExportSink(journal, "", WholeOutlet(journal, destination, render_slowly, every_s=0))
    await sink.open()
    await sink.store([numbered(0)])
    assert await asyncio.to_thread(has_begun.wait, 30)
    await sink.store([numbered(1)])
    assert not (tmp_path / "items.jsonl").exists()
    await sink.close()
    assert len((tmp_path / "items.jsonl").read_bytes().splitlines()) == 2

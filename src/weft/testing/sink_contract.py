"""The contract of a sink as tests. To test your own, subclass `SinkContract` and run pytest.

class TestMySink(SinkContract):
    KEEPS_NEWER = True

    def make_sink(self, directory):
        return MySink(directory / "items")

    async def read_items(self, directory):
        return [...]
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from weft.errors import StoreError
from weft.sinks.base import KeyedItem, Sink


class Opaque:
    """A value that JSON does not support."""

    def __str__(self) -> str:
        return "opaque"


class Broken:
    """A value whose `__str__` fails."""

    def __str__(self) -> str:
        raise ValueError("broken")


def numbered(number: int, **fields: object) -> KeyedItem:
    return KeyedItem(key=number.to_bytes(16, "big"), fields={"number": number, **fields})


def numbered_items(numbers: Iterable[int]) -> list[KeyedItem]:
    return [numbered(number) for number in numbers]


async def store(sink: Sink, *batches: Sequence[KeyedItem]) -> None:
    """Open the sink, store the batches, close it."""
    await sink.open()
    try:
        for batch in batches:
            await sink.store(batch)
    finally:
        await sink.close()


def without_nothing(item: dict[str, object]) -> dict[str, object]:
    """Drop empty fields, because tables have every field in every row."""
    return {name: value for name, value in item.items() if value is not None}


def as_text(value: object) -> object:
    """A column that has received text turns earlier values into text too: 1 is then "1", or 1.0,
    and true may be 1."""
    if value is None:
        return None
    if isinstance(value, bool):
        value = int(value)
    text = value if isinstance(value, str) else json.dumps(value)
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    try:
        return str(float(text))
    except ValueError:
        return text.replace(" ", "")


class SinkContract:
    """Tests of the promises in `Sink`. Each test gets its own directory from pytest."""

    #: Of two items with the same key, the newer is kept; False: the first is kept.
    KEEPS_NEWER: bool
    #: Stored items can be read before the sink is closed.
    SHOWS_AT_ONCE = True
    #: The replacement for NUL, if the sink cannot store it; "": it can.
    INSTEAD_OF_NUL = ""

    def make_sink(self, directory: Path) -> Sink:
        """Make a sink that keeps everything in `directory`; called again for each opening."""
        raise NotImplementedError

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        """Return all items as a user reads them, decoded, in the order of the sink."""
        raise NotImplementedError

    # Helpers for the tests.

    async def store(self, directory: Path, *batches: Sequence[KeyedItem]) -> None:
        """Open the sink, store the batches, close it."""
        await store(self.make_sink(directory), *batches)

    async def read_numbers(self, directory: Path) -> list[object]:
        return [item["number"] for item in await self.read_items(directory)]

    async def read_only_item(self, directory: Path) -> dict[str, object]:
        (item,) = await self.read_items(directory)
        return item

    async def store_value(self, directory: Path, value: object) -> object:
        """Store a value in a field and return what was stored."""
        await self.store(directory, [numbered(1, value=value)])
        return (await self.read_only_item(directory))["value"]

    # Storing.

    async def test_items_can_be_read_back_in_order(self, tmp_path: Path) -> None:
        await self.store(tmp_path, numbered_items([3, 1]), numbered_items([2]))
        assert await self.read_numbers(tmp_path) == [3, 1, 2]

    async def test_batches_of_any_size_are_stored(self, tmp_path: Path) -> None:
        for size in (0, 1, 2, 3, 1000):
            directory = tmp_path / str(size)
            directory.mkdir()
            await self.store(directory, numbered_items(range(size)))
            assert await self.read_numbers(directory) == list(range(size))

    async def test_empty_batch_between_others_changes_nothing(self, tmp_path: Path) -> None:
        await self.store(tmp_path, [numbered(1)], [], [numbered(2)])
        assert await self.read_numbers(tmp_path) == [1, 2]

    async def test_stored_item_is_visible_before_close(self, tmp_path: Path) -> None:
        if not self.SHOWS_AT_ONCE:
            pytest.skip("this sink shows its items when it is closed")

        sink = self.make_sink(tmp_path)
        await sink.open()
        try:
            await sink.store([numbered(1)])
            assert await self.read_numbers(tmp_path) == [1]
        finally:
            await sink.close()

    async def test_calls_at_the_same_time_are_all_stored(self, tmp_path: Path) -> None:
        sink = self.make_sink(tmp_path)
        await sink.open()
        try:
            await asyncio.gather(*(sink.store([numbered(n), numbered(0)]) for n in range(20)))
        finally:
            await sink.close()
        assert sorted(await self.read_numbers(tmp_path), key=str) == sorted(range(20), key=str)

    # One key, one item.

    async def test_same_key_twice_in_a_batch_is_one_item(self, tmp_path: Path) -> None:
        await self.store(tmp_path, [numbered(1, v="old"), numbered(2), numbered(1, v="new")])
        await self._assert_one_of_two_stayed(tmp_path)

    async def test_same_key_in_two_batches_is_one_item(self, tmp_path: Path) -> None:
        await self.store(tmp_path, [numbered(1, v="old"), numbered(2)], [numbered(1, v="new")])
        await self._assert_one_of_two_stayed(tmp_path)

    async def test_same_key_after_reopening_is_one_item(self, tmp_path: Path) -> None:
        await self.store(tmp_path, [numbered(1, v="old"), numbered(2)])
        await self.store(tmp_path, [numbered(1, v="new")])
        await self._assert_one_of_two_stayed(tmp_path)

    async def _assert_one_of_two_stayed(self, directory: Path) -> None:
        first, second = await self.read_items(directory)
        assert first == {"number": 1, "v": "new" if self.KEEPS_NEWER else "old"}
        assert second == {"number": 2}

    async def test_a_cleared_sink_is_empty_and_takes_the_same_items_again(
        self, tmp_path: Path
    ) -> None:
        sink = self.make_sink(tmp_path)
        await sink.open()
        try:
            await sink.store(numbered_items(range(3)))
            await sink.clear()
            if self.SHOWS_AT_ONCE:
                assert await self.read_numbers(tmp_path) == []
            await sink.store(numbered_items([2, 1]))
        finally:
            await sink.close()
        assert await self.read_numbers(tmp_path) == [2, 1]

    # Opening and closing.

    async def test_reopening_keeps_what_is_stored(self, tmp_path: Path) -> None:
        for number in range(4):
            await self.store(tmp_path, [numbered(number)])
        assert await self.read_numbers(tmp_path) == [0, 1, 2, 3]

    async def test_one_sink_can_be_opened_again(self, tmp_path: Path) -> None:
        sink = self.make_sink(tmp_path)
        for number in range(3):
            await sink.open()
            await sink.store([numbered(number), numbered(0)])
            await sink.close()
        assert await self.read_numbers(tmp_path) == [0, 1, 2]

    def test_construction_touches_nothing(self, tmp_path: Path) -> None:
        self.make_sink(tmp_path)
        assert list(tmp_path.iterdir()) == []

    async def test_close_without_open_is_harmless(self, tmp_path: Path) -> None:
        sink = self.make_sink(tmp_path)
        await sink.close()
        await sink.open()
        await sink.close()
        await sink.close()

    async def test_store_without_open_is_an_error(self, tmp_path: Path) -> None:
        sink = self.make_sink(tmp_path)
        with pytest.raises(StoreError):
            await sink.store([numbered(1)])
        await sink.close()

    # Interruptions. (tests/faults kills a process; these need none.)

    async def test_partly_stored_batch_is_completed(self, tmp_path: Path) -> None:
        batch = numbered_items(range(5))
        for stored in range(6):
            directory = tmp_path / str(stored)
            directory.mkdir()
            await self.store(directory, batch[:stored])
            await self.store(directory, batch)
            assert await self.read_numbers(directory) == [0, 1, 2, 3, 4]

    async def test_cancelled_store_can_be_repeated(self, tmp_path: Path) -> None:
        batch = numbered_items(range(200))

        sink = self.make_sink(tmp_path)
        await sink.open()
        try:
            for _ in range(5):
                task = asyncio.create_task(sink.store(batch))
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            await sink.store(batch)
        finally:
            await sink.close()
        assert await self.read_numbers(tmp_path) == list(range(200))

    # Values.

    async def test_unicode_is_kept(self, tmp_path: Path) -> None:
        text = "Zürich 東京 🕸 עברית \u2028 \x00 \r\n \" \\ 'x'"
        expected = text.replace("\x00", self.INSTEAD_OF_NUL or "\x00")
        assert await self.store_value(tmp_path, text) == expected

    async def test_lone_surrogate_does_not_cost_the_item(self, tmp_path: Path) -> None:
        assert await self.store_value(tmp_path, {"\ud800key": ["a\udfffb"]}) == {"?key": ["a?b"]}

    async def test_nested_data_is_kept(self, tmp_path: Path) -> None:
        value = {"list": [1, 2.5, None, True, {"deep": [[], {}, ""]}], "big": 2**63 - 1}
        assert await self.store_value(tmp_path, value) == value

    async def test_dates_are_iso_8601(self, tmp_path: Path) -> None:
        value = [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), date(2026, 1, 2)]
        assert await self.store_value(tmp_path, value) == ["2026-01-02T03:04:05Z", "2026-01-02"]

    async def test_other_types_have_a_form_in_json(self, tmp_path: Path) -> None:
        value = [Decimal("1.50"), b"ab", UUID(int=1), (1, 2), {3}, float("nan")]
        expected = ["1.50", "YWI=", "00000000-0000-0000-0000-000000000001", [1, 2], [3], None]
        assert await self.store_value(tmp_path, value) == expected

    async def test_a_megabyte_of_text_is_kept(self, tmp_path: Path) -> None:
        text = "Zürich 東京 🕸 " * 70_000
        assert await self.store_value(tmp_path, text) == text

    async def test_items_need_not_have_the_same_fields(self, tmp_path: Path) -> None:
        await self.store(tmp_path, [numbered(1, a="x"), numbered(2, b=["y"])], [numbered(3, c=1.5)])
        read = [without_nothing(item) for item in await self.read_items(tmp_path)]
        assert read == [{"number": 1, "a": "x"}, {"number": 2, "b": ["y"]}, {"number": 3, "c": 1.5}]

    async def test_many_fields_with_any_names_are_kept(self, tmp_path: Path) -> None:
        odd = (
            "select",
            "Order",
            "order",
            "from",
            "a b",
            "a.b",
            "$a",
            "%s",
            ":x",
            "Größe",
            "é" * 90,
        )
        fields: dict[str, object] = {name: f"the value of {name}" for name in odd}
        fields |= {f"field_{number}": number for number in range(300)}
        await self.store(tmp_path, [numbered(1, **fields)])
        assert await self.read_only_item(tmp_path) == {"number": 1, **fields}

    async def test_the_type_of_a_field_may_change(self, tmp_path: Path) -> None:
        values = [1, 2.5, True, "text", ["list"], {"a": {"b": 1}}, 2**70, None, "2026-01-02"]
        await self.store(tmp_path, *([numbered(n, v=value)] for n, value in enumerate(values)))
        read = [item.get("v") for item in await self.read_items(tmp_path)]
        assert len(read) == len(values)
        assert [as_text(value) for value in read] == [as_text(value) for value in values]

    async def test_unknown_object_is_stored_as_text(self, tmp_path: Path) -> None:
        assert await self.store_value(tmp_path, {"x": Opaque()}) == {"x": "opaque"}

    async def test_broken_object_does_not_cost_the_item(self, tmp_path: Path) -> None:
        value = await self.store_value(tmp_path, {"good": b"ab", "bad": Broken()})
        assert isinstance(value, dict)
        assert value["good"] == "YWI="
        assert "Broken object" in value["bad"]

    async def test_data_that_contains_itself_does_not_cost_the_item(self, tmp_path: Path) -> None:
        loop: dict[str, object] = {"name": "loop"}
        loop["self"] = loop
        value = await self.store_value(tmp_path, loop)
        assert isinstance(value, dict)
        assert value["name"] == "loop"

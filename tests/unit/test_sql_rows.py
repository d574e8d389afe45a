from decimal import Decimal

import pytest

from weft.sinks import KeyedItem
from weft.sinks.sql.columns import Changes, Column, Names, Room, TableColumns
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.mysql.access import packets
from weft.sinks.sql.mysql.dialect import MySqlDialect
from weft.sinks.sql.postgresql.dialect import PostgreSqlDialect
from weft.sinks.sql.rows import Encoder, RowBatch
from weft.sinks.sql.sqlite.dialect import SqliteDialect
from weft.sinks.sql.values import Forms

NAMES = Names(20, length=len, folded=str.lower)
ROOM = Room(100, 1000, {ColumnKind.TEXT: 41, ColumnKind.INT: 9})


def columns(room: Room = ROOM, **kinds: ColumnKind) -> TableColumns:
    return TableColumns({name: Column(kind) for name, kind in kinds.items()}, NAMES, room)


def item(
    number: int = 1, declared: dict[str, type | None] | None = None, **fields: object
) -> KeyedItem:
    return KeyedItem(number.to_bytes(16, "big"), fields, declared=declared)


def batch(table: TableColumns, *items: KeyedItem, is_fixed: bool = False) -> RowBatch:
    return Encoder(table, Forms(), "job", is_fixed=is_fixed).batch(items)


def test_rows_have_the_columns_that_the_batch_uses() -> None:
    table = columns(a=ColumnKind.INT, unused=ColumnKind.INT, b=ColumnKind.TEXT)
    made = batch(table, item(1, b="x"), item(2, a=5, unused=None))
    assert made.columns == ("_key", "_job", "_page", "_fetched_at", "_more", "a", "b")
    assert [row.values[5:] for row in made.rows] == [(None, "x"), (5, None)]
    assert not made.wishes


def test_fields_without_a_column_are_wished_for() -> None:
    made = batch(columns(), item(1, a=1, b="x"), item(2, a=1.5, c=None))
    assert made.wishes == Changes({"a": ColumnKind.FLOAT, "b": ColumnKind.TEXT}, {})


def test_declared_fields_are_wished_for() -> None:
    made = batch(columns(b=ColumnKind.INT), item(1, {"a": int, "b": str, "c": None, "d": Decimal}))
    assert made.wishes.added == {"a": ColumnKind.INT, "d": ColumnKind.TEXT}


def test_columns_that_are_too_narrow_are_wished_wider() -> None:
    table = columns(a=ColumnKind.INT, b=ColumnKind.FLOAT, c=ColumnKind.INT)
    made = batch(table, item(1, a=1.5, b=2**60, c=2**70), item(2, a=[1]))
    assert made.wishes.widened == {"a": ColumnKind.TEXT, "b": ColumnKind.TEXT, "c": ColumnKind.TEXT}


@pytest.mark.parametrize("name", ["", " a", "x" * 21, "_id", "_KEY", "a\nb", "PRICE", "\ud800"])
def test_fields_that_can_have_no_column_are_kept_beside(name: str) -> None:
    made = batch(columns(price=ColumnKind.INT), KeyedItem(b"k" * 16, {name: "x", "price": 1}))
    assert not made.wishes
    more = made.rows[0].values[4]
    assert isinstance(more, str)
    assert more.endswith(':"x"}')


def test_value_that_no_column_can_hold_is_kept_beside() -> None:
    made = batch(columns(raw=ColumnKind.BYTES), item(1, raw="text"))
    assert made.rows[0].values[4:] == ('{"raw":"text"}',)


def test_only_what_there_is_room_for_is_granted() -> None:
    table = columns(
        Room(100, 100, {ColumnKind.TEXT: 41, ColumnKind.INT: 9}), a=ColumnKind.INT, b=ColumnKind.INT
    )
    granted = table.grantable(
        {"c": ColumnKind.TEXT, "d": ColumnKind.INT, "D": ColumnKind.INT},
        {"a": ColumnKind.TEXT, "b": ColumnKind.TEXT},
    )
    assert granted == Changes({"d": ColumnKind.INT}, {"a": ColumnKind.TEXT, "b": ColumnKind.TEXT})
    assert columns(Room(7, 1000, {ColumnKind.TEXT: 1})).grantable(
        {"a": ColumnKind.TEXT, "b": ColumnKind.TEXT}, {}
    ).added == {"a": ColumnKind.TEXT}


def test_wishes_that_cannot_be_granted_are_not_made_again() -> None:
    table = columns(a=ColumnKind.INT).without_hope({"b": ColumnKind.INT}, {"a": ColumnKind.TEXT})
    made = batch(table, item(1, a="x", b=5))
    assert not made.wishes
    assert made.rows[0].values[4] == '{"a":"x","b":5}'


def test_items_that_a_fixed_table_has_no_column_for_are_refused() -> None:
    table = columns(a=ColumnKind.INT)
    made = batch(
        table, item(1, b=1), item(2, a=1), item(3, a="x"), KeyedItem(b"\4", {"": 1}), is_fixed=True
    )
    assert [refusal.item.key[-1] for refusal in made.refusals] == [1, 3]
    assert "no column for the field 'b'" in made.refusals[0].reason
    assert "'a' is int, its value is text" in made.refusals[1].reason
    assert [row.item.key[-1] for row in made.rows] == [2, 4]


@pytest.mark.parametrize(
    ("names", "name", "can_be"),
    [
        (MySqlDialect.names, "x" * 64, True),
        (MySqlDialect.names, "é" * 64, True),
        (MySqlDialect.names, "x" * 65, False),
        (MySqlDialect.names, "🕸", False),
        (PostgreSqlDialect.names, "é" * 31, True),
        (PostgreSqlDialect.names, "é" * 32, False),
        (PostgreSqlDialect.names, "🕸", True),
        (SqliteDialect.names, "select", True),
    ],
)
def test_names_of_columns(names: Names, name: str, can_be: bool) -> None:
    assert names.can_be(name) is can_be


def test_rows_are_sent_in_packets() -> None:
    rows = [("x" * 1000,)] * 5
    assert [len(packet) for packet in packets(rows, 5000)] == [2, 2, 1]
    assert [len(packet) for packet in packets(rows, 10)] == [1] * 5
    assert list(packets([], 10)) == []

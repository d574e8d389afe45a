import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from uuid import UUID

import pytest

from weft.sinks.sql.kinds import ColumnKind, both, kind_of_type, wider
from weft.sinks.sql.values import (
    MISFIT,
    Forms,
    json_depth,
    kind_for,
    literal_bytes,
    read_back,
    without_nul_escapes,
    written,
)

PLAIN = Forms(decimal_digits=(28, 10))
NO_NUL = Forms(has_nul=False, has_zones=True)
TEXT_DATES = Forms(has_text_dates=True)


class Level(IntEnum):
    HIGH = 3


class Name(str):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, ColumnKind.BOOL),
        (1, ColumnKind.INT),
        (Level.HIGH, ColumnKind.INT),
        (2**63 - 1, ColumnKind.INT),
        (-(2**63), ColumnKind.INT),
        (2**63, ColumnKind.TEXT),
        (1.5, ColumnKind.FLOAT),
        (Decimal("1.50"), ColumnKind.DECIMAL),
        (Decimal("1e-11"), ColumnKind.TEXT),
        (Decimal("1e28"), ColumnKind.TEXT),
        ("x", ColumnKind.TEXT),
        (Name("x"), ColumnKind.TEXT),
        (datetime(2026, 1, 2), ColumnKind.DATETIME),
        (date(2026, 1, 2), ColumnKind.DATE),
        (b"x", ColumnKind.BYTES),
        (bytearray(b"x"), ColumnKind.BYTES),
        (["x"], ColumnKind.JSON),
        ((1, 2), ColumnKind.JSON),
        ({"a": 1}, ColumnKind.JSON),
        (UUID(int=1), ColumnKind.TEXT),
        (object(), ColumnKind.TEXT),
    ],
)
def test_kind_of_a_new_column(value: object, kind: ColumnKind) -> None:
    assert kind_for(value, PLAIN) is kind


def test_kind_of_a_declared_type() -> None:
    assert kind_of_type(datetime) is ColumnKind.DATETIME
    assert kind_of_type(Level) is ColumnKind.INT
    assert kind_of_type(UUID) is None


@pytest.mark.parametrize(
    ("column", "value", "result"),
    [
        (ColumnKind.BOOL, ColumnKind.INT, ColumnKind.INT),
        (ColumnKind.INT, ColumnKind.FLOAT, ColumnKind.FLOAT),
        (ColumnKind.INT, ColumnKind.DECIMAL, ColumnKind.DECIMAL),
        (ColumnKind.FLOAT, ColumnKind.DECIMAL, ColumnKind.TEXT),
        (ColumnKind.FLOAT, ColumnKind.TEXT, ColumnKind.TEXT),
        (ColumnKind.INT, ColumnKind.JSON, ColumnKind.TEXT),
        (ColumnKind.DATE, ColumnKind.DATETIME, ColumnKind.TEXT),
        (ColumnKind.JSON, ColumnKind.TEXT, ColumnKind.JSON),
        (ColumnKind.TEXT, ColumnKind.JSON, ColumnKind.TEXT),
        (ColumnKind.BYTES, ColumnKind.TEXT, ColumnKind.BYTES),
        (ColumnKind.OTHER, ColumnKind.TEXT, ColumnKind.OTHER),
    ],
)
def test_what_a_column_becomes(column: ColumnKind, value: ColumnKind, result: ColumnKind) -> None:
    assert wider(column, value) is result


def test_new_column_for_two_kinds() -> None:
    assert both(ColumnKind.BYTES, ColumnKind.TEXT) is ColumnKind.TEXT
    assert both(ColumnKind.JSON, ColumnKind.INT) is ColumnKind.TEXT
    assert both(ColumnKind.BOOL, ColumnKind.INT) is ColumnKind.INT


@pytest.mark.parametrize(
    ("kind", "value", "form"),
    [
        (ColumnKind.INT, True, 1),
        (ColumnKind.INT, 2**63, MISFIT),
        (ColumnKind.INT, 1.0, MISFIT),
        (ColumnKind.INT, math.nan, None),
        (ColumnKind.BOOL, 1, MISFIT),
        (ColumnKind.FLOAT, 2**53, float(2**53)),
        (ColumnKind.FLOAT, 2**53 + 1, MISFIT),
        (ColumnKind.FLOAT, "1.5", MISFIT),
        (ColumnKind.FLOAT, -math.inf, None),
        (ColumnKind.DECIMAL, 7, Decimal(7)),
        (ColumnKind.DECIMAL, 0.1, Decimal("0.1")),
        (ColumnKind.DECIMAL, Decimal("1e-11"), MISFIT),
        (ColumnKind.DECIMAL, Decimal("1.500000000000000"), Decimal("1.5")),
        (ColumnKind.DECIMAL, Decimal("NaN"), None),
        (ColumnKind.TEXT, Decimal("sNaN"), None),
        (ColumnKind.DECIMAL, Decimal("1e400"), MISFIT),
        (ColumnKind.TEXT, Decimal("1e400"), "1E+400"),
        (ColumnKind.DATE, datetime(2026, 1, 2), MISFIT),
        (ColumnKind.DATE, date(2026, 1, 2), date(2026, 1, 2)),
        (ColumnKind.DATETIME, date(2026, 1, 2), MISFIT),
        (ColumnKind.DATETIME, datetime(2026, 1, 2), "2026-01-02 00:00:00.000000"),
        (ColumnKind.BYTES, "x", MISFIT),
        (ColumnKind.BYTES, memoryview(b"x"), b"x"),
        (ColumnKind.TEXT, True, "true"),
        (ColumnKind.TEXT, 2**70, str(2**70)),
        (ColumnKind.TEXT, b"ab", "YWI="),
        (ColumnKind.TEXT, ["x", None], '["x",null]'),
        (ColumnKind.TEXT, date(2026, 1, 2), "2026-01-02"),
        (ColumnKind.TEXT, Decimal("1.50"), "1.50"),
        (ColumnKind.TEXT, "a\udfffb", "a?b"),
        (ColumnKind.TEXT, "a\0b", "a\0b"),
        (ColumnKind.OTHER, 5, "5"),
        (ColumnKind.JSON, "x", '"x"'),
        (ColumnKind.JSON, {"a": math.nan}, '{"a":null}'),
    ],
)
def test_how_a_value_is_written(kind: ColumnKind, value: object, form: object) -> None:
    assert written(kind, value, PLAIN) == form


def test_instants_are_written_in_utc() -> None:
    at = datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))
    assert written(ColumnKind.DATETIME, at, PLAIN) == "2026-01-01 23:00:00.000000"
    assert written(ColumnKind.DATETIME, at, NO_NUL) == datetime(2026, 1, 1, 23, tzinfo=UTC)
    before_time = datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))
    assert written(ColumnKind.DATETIME, before_time, PLAIN) is MISFIT


def test_nul_is_replaced_where_it_must_be() -> None:
    assert written(ColumnKind.TEXT, "a\0b", NO_NUL) == "a\ufffdb"
    assert written(ColumnKind.JSON, ["a\0b", "\\u0000"], NO_NUL) == '["a\ufffdb","\\\\u0000"]'
    assert without_nul_escapes('"\\u0000"', PLAIN) == '"\\u0000"'


def test_json_that_is_nested_too_deeply_does_not_fit() -> None:
    shallow = Forms(max_json_depth=2)
    assert written(ColumnKind.JSON, [[1], [2], [3]], shallow) == "[[1],[2],[3]]"
    assert written(ColumnKind.JSON, ["[[[[", "{"], shallow) == '["[[[[","{"]'
    assert written(ColumnKind.JSON, [[[1]]], shallow) is MISFIT
    assert json_depth('{"a":["}\\"]",{}]}') == 3


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (ColumnKind.BOOL, 1, True),
        (ColumnKind.DECIMAL, Decimal("1.5000000000"), Decimal("1.5")),
        (ColumnKind.DECIMAL, Decimal("100.0000000000"), Decimal(100)),
        (ColumnKind.DECIMAL, Decimal("0.0000000001"), Decimal("1e-10")),
        (ColumnKind.DATETIME, datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)),
        (
            ColumnKind.DATETIME,
            "2026-01-02 03:04:05.000006",
            datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        ),
        (ColumnKind.DATE, "2026-01-02", date(2026, 1, 2)),
        (ColumnKind.JSON, '{"a":[1]}', {"a": [1]}),
        (ColumnKind.JSON, '"x"', "x"),
        (ColumnKind.TEXT, "[1]", "[1]"),
        (ColumnKind.INT, 5, 5),
    ],
)
def test_what_is_read_back(kind: ColumnKind, stored: object, value: object) -> None:
    read = read_back(kind, stored, PLAIN)
    assert read == value
    assert str(read) == str(value)


def test_length_of_a_literal_counts_what_is_escaped() -> None:
    assert literal_bytes("a'b\n\\") - literal_bytes("") == 8
    assert literal_bytes("é") - literal_bytes("") == 2
    assert literal_bytes(b"\x00\xff") - literal_bytes(b"") == 3

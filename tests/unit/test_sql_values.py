import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from uuid import UUID

import pytest

from weft.sinks.sql.kinds import Kind, both, kind_of_type, wider
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
        (True, Kind.BOOL),
        (1, Kind.INT),
        (Level.HIGH, Kind.INT),
        (2**63 - 1, Kind.INT),
        (-(2**63), Kind.INT),
        (2**63, Kind.TEXT),
        (1.5, Kind.FLOAT),
        (Decimal("1.50"), Kind.DECIMAL),
        (Decimal("1e-11"), Kind.TEXT),
        (Decimal("1e28"), Kind.TEXT),
        ("x", Kind.TEXT),
        (Name("x"), Kind.TEXT),
        (datetime(2026, 1, 2), Kind.DATETIME),
        (date(2026, 1, 2), Kind.DATE),
        (b"x", Kind.BYTES),
        (bytearray(b"x"), Kind.BYTES),
        (["x"], Kind.JSON),
        ((1, 2), Kind.JSON),
        ({"a": 1}, Kind.JSON),
        (UUID(int=1), Kind.TEXT),
        (object(), Kind.TEXT),
    ],
)
def test_kind_of_a_new_column(value: object, kind: Kind) -> None:
    assert kind_for(value, PLAIN) is kind


def test_kind_of_a_declared_type() -> None:
    assert kind_of_type(datetime) is Kind.DATETIME
    assert kind_of_type(Level) is Kind.INT
    assert kind_of_type(UUID) is None


@pytest.mark.parametrize(
    ("column", "value", "result"),
    [
        (Kind.BOOL, Kind.INT, Kind.INT),
        (Kind.INT, Kind.FLOAT, Kind.FLOAT),
        (Kind.INT, Kind.DECIMAL, Kind.DECIMAL),
        (Kind.FLOAT, Kind.DECIMAL, Kind.TEXT),
        (Kind.FLOAT, Kind.TEXT, Kind.TEXT),
        (Kind.INT, Kind.JSON, Kind.TEXT),
        (Kind.DATE, Kind.DATETIME, Kind.TEXT),
        (Kind.JSON, Kind.TEXT, Kind.JSON),
        (Kind.TEXT, Kind.JSON, Kind.TEXT),
        (Kind.BYTES, Kind.TEXT, Kind.BYTES),
        (Kind.OTHER, Kind.TEXT, Kind.OTHER),
    ],
)
def test_what_a_column_becomes(column: Kind, value: Kind, result: Kind) -> None:
    assert wider(column, value) is result


def test_new_column_for_two_kinds() -> None:
    assert both(Kind.BYTES, Kind.TEXT) is Kind.TEXT
    assert both(Kind.JSON, Kind.INT) is Kind.TEXT
    assert both(Kind.BOOL, Kind.INT) is Kind.INT


@pytest.mark.parametrize(
    ("kind", "value", "form"),
    [
        (Kind.INT, True, 1),
        (Kind.INT, 2**63, MISFIT),
        (Kind.INT, 1.0, MISFIT),
        (Kind.INT, math.nan, None),
        (Kind.BOOL, 1, MISFIT),
        (Kind.FLOAT, 2**53, float(2**53)),
        (Kind.FLOAT, 2**53 + 1, MISFIT),
        (Kind.FLOAT, "1.5", MISFIT),
        (Kind.FLOAT, -math.inf, None),
        (Kind.DECIMAL, 7, Decimal(7)),
        (Kind.DECIMAL, 0.1, Decimal("0.1")),
        (Kind.DECIMAL, Decimal("1e-11"), MISFIT),
        (Kind.DECIMAL, Decimal("1.500000000000000"), Decimal("1.5")),
        (Kind.DECIMAL, Decimal("NaN"), None),
        (Kind.TEXT, Decimal("sNaN"), None),
        (Kind.DECIMAL, Decimal("1e400"), MISFIT),
        (Kind.TEXT, Decimal("1e400"), "1E+400"),
        (Kind.DATE, datetime(2026, 1, 2), MISFIT),
        (Kind.DATE, date(2026, 1, 2), date(2026, 1, 2)),
        (Kind.DATETIME, date(2026, 1, 2), MISFIT),
        (Kind.DATETIME, datetime(2026, 1, 2), "2026-01-02 00:00:00.000000"),
        (Kind.BYTES, "x", MISFIT),
        (Kind.BYTES, memoryview(b"x"), b"x"),
        (Kind.TEXT, True, "true"),
        (Kind.TEXT, 2**70, str(2**70)),
        (Kind.TEXT, b"ab", "YWI="),
        (Kind.TEXT, ["x", None], '["x",null]'),
        (Kind.TEXT, date(2026, 1, 2), "2026-01-02"),
        (Kind.TEXT, Decimal("1.50"), "1.50"),
        (Kind.TEXT, "a\udfffb", "a?b"),
        (Kind.TEXT, "a\0b", "a\0b"),
        (Kind.OTHER, 5, "5"),
        (Kind.JSON, "x", '"x"'),
        (Kind.JSON, {"a": math.nan}, '{"a":null}'),
    ],
)
def test_how_a_value_is_written(kind: Kind, value: object, form: object) -> None:
    assert written(kind, value, PLAIN) == form


def test_instants_are_written_in_utc() -> None:
    at = datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))
    assert written(Kind.DATETIME, at, PLAIN) == "2026-01-01 23:00:00.000000"
    assert written(Kind.DATETIME, at, NO_NUL) == datetime(2026, 1, 1, 23, tzinfo=UTC)
    before_time = datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))
    assert written(Kind.DATETIME, before_time, PLAIN) is MISFIT


def test_nul_is_replaced_where_it_must_be() -> None:
    assert written(Kind.TEXT, "a\0b", NO_NUL) == "a\ufffdb"
    assert written(Kind.JSON, ["a\0b", "\\u0000"], NO_NUL) == '["a\ufffdb","\\\\u0000"]'
    assert without_nul_escapes('"\\u0000"', PLAIN) == '"\\u0000"'


def test_json_that_is_nested_too_deeply_does_not_fit() -> None:
    shallow = Forms(max_json_depth=2)
    assert written(Kind.JSON, [[1], [2], [3]], shallow) == "[[1],[2],[3]]"
    assert written(Kind.JSON, ["[[[[", "{"], shallow) == '["[[[[","{"]'
    assert written(Kind.JSON, [[[1]]], shallow) is MISFIT
    assert json_depth('{"a":["}\\"]",{}]}') == 3


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (Kind.BOOL, 1, True),
        (Kind.DECIMAL, Decimal("1.5000000000"), Decimal("1.5")),
        (Kind.DECIMAL, Decimal("100.0000000000"), Decimal(100)),
        (Kind.DECIMAL, Decimal("0.0000000001"), Decimal("1e-10")),
        (Kind.DATETIME, datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)),
        (Kind.DATETIME, "2026-01-02 03:04:05.000006", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        (Kind.DATE, "2026-01-02", date(2026, 1, 2)),
        (Kind.JSON, '{"a":[1]}', {"a": [1]}),
        (Kind.JSON, '"x"', "x"),
        (Kind.TEXT, "[1]", "[1]"),
        (Kind.INT, 5, 5),
    ],
)
def test_what_is_read_back(kind: Kind, stored: object, value: object) -> None:
    read = read_back(kind, stored, PLAIN)
    assert read == value
    assert str(read) == str(value)


def test_length_of_a_literal_counts_what_is_escaped() -> None:
    assert literal_bytes("a'b\n\\") - literal_bytes("") == 8
    assert literal_bytes("é") - literal_bytes("") == 2
    assert literal_bytes(b"\x00\xff") - literal_bytes(b"") == 3

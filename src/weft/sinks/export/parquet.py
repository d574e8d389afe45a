"""Items as Parquet: a column for each field, and four that tell where the item comes from.

A column has the type that holds all its values: truth, 64-bit integers, floating point, else text.
Nested values are JSON in text, and so are integers that 64 bits do not hold.
"""

from collections.abc import Iterable, Iterator
from enum import Flag, auto
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from weft.sinks.export.formats import Row, Rows, decode_fields, text_of

#: A row group has so many rows, or fewer if their JSON is longer than that.
GROUP_ROWS = 10_000
GROUP_CHARACTERS = 32 * 1024 * 1024

#: Columns of ours, and their types. A field with such a name gets another underscore.
OURS = {
    "_key": pa.binary(16),
    "_job": pa.string(),
    "_page": pa.string(),
    "_fetched_at": pa.timestamp("ms", tz="UTC"),
}

#: Up to here, floating point has every integer.
_EXACT = 2**53
_LONG = 2**63


class Kind(Flag):
    """What kinds of values a field has."""

    NOTHING = 0
    TRUTH = auto()
    SMALL = auto()
    LONG = auto()
    FLOAT = auto()
    #: Texts, nested values, longer integers.
    TEXT = auto()


def kind_of(value: object) -> Kind:
    if value is None:
        return Kind.NOTHING
    if isinstance(value, bool):
        return Kind.TRUTH
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            return Kind.SMALL
        return Kind.LONG if -_LONG <= value < _LONG else Kind.TEXT
    return Kind.FLOAT if isinstance(value, float) else Kind.TEXT


def type_of(kinds: Kind) -> pa.DataType:
    """The type that holds values of all these kinds."""
    if kinds is Kind.TRUTH:
        return pa.bool_()
    if kinds and kinds in Kind.SMALL | Kind.LONG:
        return pa.int64()
    if kinds and kinds in Kind.SMALL | Kind.FLOAT:
        return pa.float64()
    return pa.string()


def column_names(names: Iterable[str]) -> dict[str, str]:
    """The column of each field."""
    columns: dict[str, str] = {}
    taken = {*names, *OURS}
    for name in names:
        column = name
        if name in OURS:
            while column in taken:
                column += "_"
            taken.add(column)
        columns[name] = column
    return columns


def render_parquet(rows: Rows, output: BinaryIO) -> None:
    types = {name: type_of(kinds) for name, kinds in _find_kinds(rows()).items()}
    columns = column_names(types)
    schema = pa.schema({**{columns[name]: types[name] for name in types}, **OURS})
    with ParquetWriter(output, schema, compression="zstd") as writer:
        for group in _groups(rows()):
            fields = [decode_fields(row.item) for row in group]
            arrays = [_array(fields, name, types[name]) for name in types]
            arrays += _our_arrays(group)
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _find_kinds(rows: Iterable[Row]) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for row in rows:
        for name, value in decode_fields(row.item).items():
            kinds[name] = kinds.get(name, Kind.NOTHING) | kind_of(value)
    return kinds


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    characters = 0
    for row in rows:
        group.append(row)
        characters += len(row.item)
        if len(group) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _array(fields: Iterable[dict[str, Any]], name: str, type_: pa.DataType) -> pa.Array:
    values = (each.get(name) for each in fields)
    if type_ == pa.string():
        values = (_text(value) for value in values)
    return pa.array(values, type_)


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else text_of(value)
    return text.encode(errors="replace").decode()


def _our_arrays(group: list[Row]) -> list[pa.Array]:
    values: list[list[object]] = [
        [row.key for row in group],
        [row.job for row in group],
        [row.page for row in group],
        [row.fetched_at_ms or None for row in group],
    ]
    return [pa.array(each, type_) for each, type_ in zip(values, OURS.values(), strict=True)]

"""Items as Parquet: a column for each field, and four for the origin of the item.

A column has the type that can hold all its values: boolean, 64-bit integer, float, or else text.
Nested values are stored as JSON text, as are integers that do not fit into 64 bits.
"""

from collections.abc import Iterable, Iterator
from enum import Flag, auto
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from weft.sinks.files.formats import ExportRow, Rows, decode_fields, text_of

#: A row group has this many rows, or fewer if their JSON is longer than the next limit.
GROUP_ROWS = 10_000
GROUP_CHARACTERS = 32 * 1024 * 1024

#: Our own columns, and their types. A field with such a name gets another underscore.
OURS = {
    "_key": pa.binary(16),
    "_job": pa.string(),
    "_page": pa.string(),
    "_fetched_at": pa.timestamp("ms", tz="UTC"),
}

#: Floats represent every integer up to here.
_EXACT = 2**53
_LONG = 2**63


class ParquetKind(Flag):
    """The kinds of values in a field."""

    NOTHING = 0
    TRUTH = auto()
    SMALL = auto()
    LONG = auto()
    FLOAT = auto()
    #: Text, nested values, larger integers.
    TEXT = auto()


def kind_of(value: object) -> ParquetKind:
    if value is None:
        return ParquetKind.NOTHING
    if isinstance(value, bool):
        return ParquetKind.TRUTH
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            return ParquetKind.SMALL
        return ParquetKind.LONG if -_LONG <= value < _LONG else ParquetKind.TEXT
    return ParquetKind.FLOAT if isinstance(value, float) else ParquetKind.TEXT


def type_of(kinds: ParquetKind) -> pa.DataType:
    """Return the type that can hold values of all these kinds."""
    if kinds is ParquetKind.TRUTH:
        return pa.bool_()
    if kinds and kinds in ParquetKind.SMALL | ParquetKind.LONG:
        return pa.int64()
    if kinds and kinds in ParquetKind.SMALL | ParquetKind.FLOAT:
        return pa.float64()
    return pa.string()


def column_names(names: Iterable[str]) -> dict[str, str]:
    """Return the column of each field."""
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


def _find_kinds(rows: Iterable[ExportRow]) -> dict[str, ParquetKind]:
    kinds: dict[str, ParquetKind] = {}
    for row in rows:
        for name, value in decode_fields(row.item).items():
            kinds[name] = kinds.get(name, ParquetKind.NOTHING) | kind_of(value)
    return kinds


def _groups(rows: Iterable[ExportRow]) -> Iterator[list[ExportRow]]:
    group: list[ExportRow] = []
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


def _our_arrays(group: list[ExportRow]) -> list[pa.Array]:
    values: list[list[object]] = [
        [row.key for row in group],
        [row.job for row in group],
        [row.page for row in group],
        [row.fetched_at_ms or None for row in group],
    ]
    return [pa.array(each, type_) for each, type_ in zip(values, OURS.values(), strict=True)]

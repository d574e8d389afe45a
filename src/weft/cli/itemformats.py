"""Items as a table, as JSON lines, and as CSV."""

import csv
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from weft.cli.output import WIDE, count, results, say, show
from weft.sinks.conditions import text_of
from weft.sinks.encoding import encode_fields
from weft.sinks.readback import StoredItem

#: Maximum width of a table column; longer values are cut.
MAX_COLUMN = 40
#: Width of a column besides its values.
_GAP = 3
#: Items that wait for the names of all columns are kept in memory up to this size.
_SPOOL_BYTES = 8 << 20


def _fields_of(item: StoredItem, *, has_all: bool) -> dict[str, Any]:
    if not has_all:
        return item.fields
    at = datetime.fromtimestamp(item.fetched_at_ms / 1000, UTC) if item.fetched_at_ms else None
    own = {"_key": item.key, "_job": item.job, "_page": item.page, "_fetched_at": at}
    return {**item.fields, **own}


async def write_json_lines(items: AsyncIterator[StoredItem], *, has_all: bool) -> None:
    out = sys.stdout.buffer
    async for item in items:
        out.write(encode_fields(_fields_of(item, has_all=has_all)) + b"\n")
    out.flush()


async def write_csv(items: AsyncIterator[StoredItem], *, has_all: bool) -> None:
    """The header needs the fields of all items, so the items are spooled until all are known."""
    names: dict[str, None] = {}
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as aside:
        async for item in items:
            fields = _fields_of(item, has_all=has_all)
            names |= dict.fromkeys(fields)
            aside.write(encode_fields(fields) + b"\n")
        aside.seek(0)
        _write_rows(list(names), map(msgspec.json.decode, aside))


def _write_rows(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    if not names:
        return
    writer = csv.writer(_Utf8(), lineterminator="\n")
    writer.writerow(names)
    for fields in rows:
        writer.writerow([text_of(fields.get(name)) for name in names])
    sys.stdout.buffer.flush()


class _Utf8:
    """Standard output in UTF-8, whatever the locale is."""

    def write(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode())


async def write_table(items: AsyncIterator[StoredItem], limit: int, *, has_all: bool) -> None:
    rows: list[Mapping[str, Any]] = []
    has_more = False
    async for item in items:
        has_more = len(rows) == limit
        if has_more:
            break
        rows.append(_fields_of(item, has_all=has_all))
    if not rows:
        say("No items.")
        return
    names = list(dict.fromkeys(name for fields in rows for name in fields))
    shown = _fitting(names, rows, results.width if results.is_terminal else WIDE)
    show(_table(names[:shown], rows))
    say(_tell_shown(len(rows), names[shown:], has_more=has_more))


def _cell(value: Any) -> str:
    return " ".join(text_of(value).split())


def _fitting(names: Sequence[str], rows: Sequence[Mapping[str, Any]], width: int) -> int:
    """How many columns fit; at least one."""
    width -= 1
    for number, name in enumerate(names):
        cells = (_cell(fields.get(name)) for fields in rows)
        widest = max(map(cell_len, (name, *cells)))
        width -= min(widest, MAX_COLUMN) + _GAP
        if width < 0:
            return max(1, number)
    return len(names)


def _table(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in names:
        table.add_column(Text(name), max_width=MAX_COLUMN, no_wrap=True, overflow="ellipsis")
    for fields in rows:
        table.add_row(*(Text(_cell(fields.get(name))) for name in names))
    return table


def _tell_shown(shown: int, left_out: Sequence[str], *, has_more: bool) -> str:
    told = count(shown, "item")
    if has_more:
        told = f"The first {told}; --limit shows more"
    if left_out:
        told += f"; no room for {', '.join(left_out)} (see --format jsonl)"
    return f"{told}."

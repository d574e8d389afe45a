"""Items in common formats, each written from start to end with little memory.

They look like Scrapy's feed exports. Their exporters are not used: the JSON one would parse
and rewrite what the journal already has in the right form; the XML one breaks on a field that is
called "a b" or contains a control character; and the CSV one loses the fields that the first item
lacks, and writes nested values in Python's notation.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import msgspec

from weft.sinks.extras import needs_extra


class ExportRow(NamedTuple):
    """An item as stored in the journal."""

    key: bytes
    #: A JSON object.
    item: str
    job: str
    page: str
    fetched_at_ms: int


#: Starts again with every call: some formats need to know all fields before they can begin.
Rows = Callable[[], Iterator[ExportRow]]
Render = Callable[[Rows, BinaryIO], None]


def render_json(rows: Rows, output: BinaryIO) -> None:
    output.write(b"[\n")
    separator = b""
    for row in rows():
        output.write(separator + row.item.encode())
        separator = b",\n"
    output.write(b"\n]")


def render_json_lines(rows: Rows, output: BinaryIO) -> None:
    for row in rows():
        output.write(row.item.encode() + b"\n")


def render_csv(rows: Rows, output: BinaryIO) -> None:
    """A column for each field of any item, in the order in which they first appear."""
    names = _field_names(rows())
    text = TextIOWrapper(output, encoding="utf-8", errors="replace", newline="")
    writer = csv.writer(text)
    if names:
        writer.writerow(names)
    for row in rows():
        fields = decode_fields(row.item)
        writer.writerow([_cell(fields.get(name)) for name in names])
    text.detach()  # writes the rest, and leaves the file open


def render_xml(rows: Rows, output: BinaryIO) -> None:
    output.write(b'<?xml version="1.0" encoding="utf-8"?>\n<items>\n')
    for row in rows():
        pieces = ["<item>"]
        for name, value in decode_fields(row.item).items():
            pieces += _element(name, value)
        pieces.append("</item>\n")
        output.write("".join(pieces).encode(errors="replace"))
    output.write(b"</items>\n")


_BY_SUFFIX: dict[str, Render] = {
    ".json": render_json,
    ".csv": render_csv,
    ".xml": render_xml,
    ".jl": render_json_lines,
    ".jsonl": render_json_lines,
    ".ndjson": render_json_lines,
}
SUFFIXES = (*_BY_SUFFIX, ".parquet")


def find_render(name: str) -> Render | None:
    """Return the renderer for the suffix of `name`; None if there is none."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix != ".parquet":
        return _BY_SUFFIX.get(suffix)
    with needs_extra("parquet", name, "items"):
        # Imported here because only this format needs pyarrow.
        from weft.sinks.files.parquet import render_parquet
    return render_parquet


# Values


def decode_fields(item: str) -> dict[str, Any]:
    """The fields of an item. Invalid JSON is not lost."""
    try:
        return _DECODER.decode(item)
    except msgspec.DecodeError:  # from an unchecked `msgspec.Raw` in an item
        try:
            return dict(json.loads(item))
        except (TypeError, ValueError):
            return {"item": item}


def text_of(value: object) -> str:
    """Any value but text, as written to a text column."""
    return json.dumps(value, ensure_ascii=False)


def _field_names(rows: Iterable[ExportRow]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(decode_fields(row.item))
    return list(names)


def _cell(value: object) -> object:
    return text_of(value) if isinstance(value, dict | list) else value


# XML

#: Characters that every edition of XML allows in element names. Other names become an attribute.
_LETTERS = "A-Za-z_À-ÖØ-öø-ÿЁА-яё一-龥"
_NAME = re.compile(f"[{_LETTERS}][{_LETTERS}0-9.-]*")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _element(name: str, value: object) -> Iterator[str]:
    if _NAME.fullmatch(name):
        start, end = name, name
    else:
        start, end = f"field name={quoteattr(_allowed(name))}", "field"
    yield f"<{start}>"
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from _element(inner_name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _element("value", inner)
    elif value is not None:
        # A parser would read a carriage return as the end of a line.
        yield escape(_allowed(str(value)), {"\r": "&#13;"})
    yield f"</{end}>"


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)


_DECODER = msgspec.json.Decoder(dict[str, Any])

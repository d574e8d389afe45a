import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO, StringIO
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet
import pytest

from weft.sinks.files import parquet
from weft.sinks.files.formats import (
    ExportRow,
    Render,
    decode_fields,
    find_render,
    render_csv,
    render_json,
    render_json_lines,
    render_xml,
)
from weft.sinks.files.parquet import ParquetKind, column_names, kind_of, render_parquet, type_of


def rendered(render: Render, *items: object) -> bytes:
    def rows() -> Iterator[ExportRow]:
        for number, item in enumerate(items):
            text = item if isinstance(item, str) else json.dumps(item)
            yield ExportRow(number.to_bytes(16, "big"), text, "shop", f"http://x/{number}", number)

    output = BytesIO()
    render(rows, output)
    return output.getvalue()


def table(*items: object) -> Any:
    return pyarrow.parquet.read_table(BytesIO(rendered(render_parquet, *items)))


@pytest.mark.parametrize("name", ["a.json", "a.CSV", "b/a.xml", "a.jl", "a.jsonl", "a.ndjson"])
def test_format_is_found_by_the_ending(name: str) -> None:
    assert find_render(name) is not None


@pytest.mark.parametrize("name", ["", "json", "a.txt", "a.json.gz", "a.json/b"])
def test_other_endings_say_no_format(name: str) -> None:
    assert find_render(name) is None


def test_json_is_a_list_with_an_item_a_line() -> None:
    assert rendered(render_json, {"a": 1}, {"b": [2]}) == b'[\n{"a": 1},\n{"b": [2]}\n]'
    assert json.loads(rendered(render_json)) == []


def test_json_lines() -> None:
    assert rendered(render_json_lines, {"a": 1}, {"b": 2}) == b'{"a": 1}\n{"b": 2}\n'
    assert rendered(render_json_lines) == b""


def test_csv_has_a_column_for_each_field_of_any_item() -> None:
    text = rendered(render_csv, {"a": 1, "b": None}, {"c": "x", "a": True}).decode()
    assert text == "a,b,c\r\n1,,\r\nTrue,,x\r\n"


def test_csv_without_items_is_empty() -> None:
    assert rendered(render_csv) == b""


def test_csv_has_nested_values_as_json() -> None:
    text = rendered(render_csv, {"a": ["é", {"b": None}], "c": 'x,"y"\n'}).decode()
    (row,) = csv.DictReader(StringIO(text, newline=""))
    assert row == {"a": '["é", {"b": null}]', "c": 'x,"y"\n'}


def test_xml_is_laid_out_as_scrapy_does() -> None:
    text = rendered(render_xml, {"name": "a<b&c", "tags": ["x", {"y": 1}]}, {"none": None}).decode()
    assert text == (
        '<?xml version="1.0" encoding="utf-8"?>\n<items>\n'
        "<item><name>a&lt;b&amp;c</name>"
        "<tags><value>x</value><value><y>1</y></value></tags></item>\n"
        "<item><none></none></item>\n"
        "</items>\n"
    )


@pytest.mark.parametrize(
    "name", ["", "a b", "1a", "$", "a:b", "<", '"', "\x00", "é" * 3 + "²", "\n"]
)
def test_any_field_name_makes_good_xml(name: str) -> None:
    root = ElementTree.fromstring(rendered(render_xml, {name: "x"}))
    assert root[0][0].tag == "field"
    assert root[0][0].get("name") == name.replace("\x00", "\ufffd")


@pytest.mark.parametrize("name", ["a", "_a-1.x", "Größe", "价格", "Цена"])
def test_common_field_names_are_elements(name: str) -> None:
    assert ElementTree.fromstring(rendered(render_xml, {name: "x"}))[0][0].tag == name


def test_characters_that_xml_forbids_are_replaced() -> None:
    root = ElementTree.fromstring(rendered(render_xml, {"a": "\x00\x08\x1b\ufffe|\t\r\n|"}))
    assert root[0][0].text == "\ufffd\ufffd\ufffd\ufffd|\t\r\n|"


@pytest.mark.parametrize("item", ['{"a": "\\ud800"}', '{"a": bad}', "[]"])
@pytest.mark.parametrize("render", [render_csv, render_xml, render_parquet])
def test_what_is_no_good_json_costs_no_output(render: Render, item: str) -> None:
    assert rendered(render, {"good": 1}, item)


def test_what_is_no_json_is_kept_as_text() -> None:
    assert decode_fields('{"a": bad}') == {"item": '{"a": bad}'}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None], pa.string()),
        ([True, None], pa.bool_()),
        ([True, 1], pa.string()),
        ([1, 2**62], pa.int64()),
        ([-(2**63), 2**63 - 1], pa.int64()),
        ([2**63], pa.string()),
        ([1, 2.5], pa.float64()),
        ([2**60, 2.5], pa.string()),
        ([1, "x"], pa.string()),
        ([["x"]], pa.string()),
        ([{}], pa.string()),
    ],
)
def test_column_has_the_type_that_holds_all(values: list[object], expected: pa.DataType) -> None:
    kinds = ParquetKind.NOTHING
    for value in values:
        kinds |= kind_of(value)
    assert type_of(kinds) == expected
    assert table(*({"v": value} for value in values)).schema.field("v").type == expected


def test_parquet_tells_where_items_come_from() -> None:
    read = table({"a": 1}, {"a": 2})
    assert read.column_names == ["a", *parquet.OURS]
    assert read.to_pylist()[1] == {
        "a": 2,
        "_key": (1).to_bytes(16, "big"),
        "_job": "shop",
        "_page": "http://x/1",
        "_fetched_at": datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
    }
    assert read.to_pylist()[0]["_fetched_at"] is None


def test_fields_with_our_names_get_other_columns() -> None:
    assert column_names(["_key", "_key_", "a"]) == {"_key": "_key__", "_key_": "_key_", "a": "a"}
    assert table({"_key": "mine"}).to_pylist()[0]["_key_"] == "mine"


def test_parquet_without_items_has_our_columns() -> None:
    assert table().column_names == list(parquet.OURS)


def test_parquet_has_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 3)
    monkeypatch.setattr(parquet, "GROUP_CHARACTERS", 1000)
    items = [{"a": "x" * (2000 if number == 1 else 1)} for number in range(8)]
    file = pyarrow.parquet.ParquetFile(BytesIO(rendered(render_parquet, *items)))
    sizes = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert sizes == [2, 3, 3]
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"

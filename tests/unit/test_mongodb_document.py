from decimal import Decimal
from typing import Any

import bson
import msgspec
import pytest

from weft.sinks import KeyedItem
from weft.sinks.mongodb.document import MAX_DEPTH, decode_document, encode_document
from weft.sinks.readback import StoredItem

KEY = b"k" * 16


def stored(fields: dict[str, Any], page: str = "p", fetched_at_ms: int = 0) -> dict[str, Any]:
    return bson.decode(encode_document(KeyedItem(KEY, fields, page, fetched_at_ms), "job"))


def read_back(fields: dict[str, Any]) -> dict[str, Any]:
    return decode_document(stored(fields)).fields


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def depth_of(value: Any) -> int:
    depth = 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    return depth


def test_bookkeeping_comes_first_and_comes_back() -> None:
    document = stored({"a": 1}, page="https://p/", fetched_at_ms=1_700_000_000_123)
    assert list(document) == ["_id", "_job", "_page", "_fetched_at", "a"]
    expected = StoredItem(KEY.hex(), "job", "https://p/", 1_700_000_000_123, {"a": 1})
    assert decode_document(document) == expected


def test_plain_values_are_kept() -> None:
    fields = {"s": "Zürich 🕸\0", "i": -(2**63), "j": 2**63 - 1, "f": 2.5, "t": True, "n": None}
    assert read_back(fields) == fields
    assert isinstance(read_back({"t": True})["t"], bool)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**63, str(2**63)),
        (-(2**70), str(-(2**70))),
        ([2**70, 1], [str(2**70), 1]),
        (float("nan"), None),
        (float("inf"), None),
        ([float("-inf")], [None]),
        (Decimal("1.50"), "1.50"),
        (b"ab", "YWI="),
        ((1, {2}), [1, [2]]),
        ({1: {"$x": 1, "a.b": 2}}, {"1": {"$x": 1, "a.b": 2}}),
        ("a\udfffb", "a?b"),
        (msgspec.Raw(b"[1]"), [1]),
    ],
)
def test_other_values_have_the_form_that_they_have_in_json(value: object, expected: object) -> None:
    assert read_back({"v": value}) == {"v": expected}


def test_json_that_is_none_is_stored_as_text() -> None:
    fields = {"v": msgspec.Raw(b"{nonsense"), "n\0": 1}
    assert read_back(fields) == {"v": "{nonsense", "n␀": 1}


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, 300])
def test_deep_data_is_text_below_some_depth(depth: int) -> None:
    value = read_back({"v": nested(depth)})["v"]
    assert depth_of(value) == min(depth, MAX_DEPTH)


@pytest.mark.parametrize("depth", [900, 5000])
def test_very_deep_data_does_not_cost_the_item(depth: int) -> None:
    item = read_back({"v": nested(depth), "a": 1})
    assert depth_of(item["v"]) <= MAX_DEPTH
    assert item["a"] == 1


def test_data_that_contains_itself_is_stored() -> None:
    loop: dict[str, Any] = {"name": "loop"}
    loop["self"] = loop
    assert read_back(loop)["name"] == "loop"


def test_fields_with_our_names_are_apart_and_come_back() -> None:
    fields = {"_id": 1, "_job": "x", "_page": None, "_fetched_at": [2], "_more": {"_more": 3}}
    assert stored(fields | {"a": 1})["_more"] == fields
    assert read_back(fields | {"a": 1}) == {"a": 1} | fields


def test_a_nul_in_a_name_becomes_visible_and_costs_no_other_field() -> None:
    fields = {"a\0": 1, "a␀": 2, "a": 3, "v": {"b\0": [4]}}
    assert read_back(fields) == {"a␀␀": 1, "a␀": 2, "a": 3, "v": {"b␀": [4]}}
    assert len(read_back({"\0": 1, "␀": 2, "␀␀": 3})) == 3


def test_half_a_character_in_page_or_name_costs_only_itself() -> None:
    document = stored({"n\ud800": "v"}, page="https://p/\udfff")
    assert document["_page"] == "https://p/?"
    assert document["n?"] == "v"


def test_names_that_are_no_text_become_text() -> None:
    assert read_back({1: "a"}) == {"1": "a"}  # type: ignore[dict-item]


def test_documents_that_look_like_references_are_what_they_were() -> None:
    fields = {"$ref": "r", "$id": 1, "in": [{"$ref": "s", "$id": 2, "x": 3}]}
    assert read_back(fields) == fields

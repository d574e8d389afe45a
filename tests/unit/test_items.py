import subprocess
import sys
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from weft.engine.requests.positions import Position
from weft.engine.scrapy.items import item_key

HERE = Position(7, 0)


def test_key_is_16_bytes_and_never_changes() -> None:
    # A sink of yesterday knows its items by these keys.
    assert item_key({"a": 1}, HERE, []).hex() == "c6c4732bc5f40942c5f99ddaf516c8e2"
    assert (
        item_key({"a": 1, "b": "ü"}, HERE, ["b", "a"]).hex() == "d627b7400287afc484c65470e54e4d1b"
    )


def test_place_is_the_key_unless_fields_are_named() -> None:
    assert item_key({"a": 1}, HERE, []) == item_key({"a": 2}, HERE, [])
    assert item_key({"a": 1}, HERE, []) != item_key({"a": 1}, Position(7, 1), [])
    assert item_key({"a": 1}, HERE, []) != item_key({"a": 1}, Position(8, 0), [])
    assert item_key({"a": 1}, HERE, [], "one") != item_key({"a": 1}, HERE, [], "two")


def test_named_fields_are_the_key_in_all_jobs() -> None:
    assert item_key({"a": 1}, HERE, ["a"], "one") == item_key({"a": 1}, HERE, ["a"], "two")


def test_a_place_is_never_taken_for_named_fields() -> None:
    assert item_key({}, HERE, []) != item_key({"a": 7, "b": 0}, HERE, ["a", "b"])


def test_named_fields_are_the_key_wherever_the_item_was_found() -> None:
    key = item_key({"a": 1, "b": 2}, HERE, ["a"])
    assert key == item_key({"a": 1, "b": 3}, Position(8, 1), ["a"])
    assert key != item_key({"a": 2, "b": 2}, HERE, ["a"])
    assert item_key({"a": 1, "b": 2}, HERE, ["a", "b"]) != item_key(
        {"a": 2, "b": 1}, HERE, ["a", "b"]
    )


@pytest.mark.parametrize("fields", [{}, {"a": None}, {"a": 1}, {"a": 1, "b": None}])
def test_item_that_lacks_a_named_field_is_known_by_its_place(fields: dict[str, Any]) -> None:
    assert item_key(fields, HERE, ["a", "b"]) == item_key({}, HERE, [])


@pytest.mark.parametrize("value", [0, "", False, [], b""])
def test_empty_values_are_values(value: object) -> None:
    assert item_key({"a": value}, HERE, ["a"]) != item_key({}, HERE, [])


class Broken:
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [2**70, "\ud800", Decimal("1.50"), date(2024, 1, 1), float("nan"), Broken, Broken(), {1}],
)
def test_whatever_a_spider_yields_has_a_key(value: object) -> None:
    key = item_key({"a": value}, HERE, ["a"])
    assert len(key) == 16
    assert key == item_key({"a": value}, Position(9, 9), ["a"])
    assert key != item_key({}, HERE, [])


def test_key_of_a_set_is_the_same_in_every_process() -> None:
    code = (
        "from weft.engine.scrapy.items import item_key\n"
        "from weft.engine.requests.positions import Position\n"
        "print(item_key({'a': {'x', 'y', 'z', 'u', 'v'}}, Position(1, 2), ['a']).hex())"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(keys) == 1

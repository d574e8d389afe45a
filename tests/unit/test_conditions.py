"""Which items a condition finds."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from weft.errors import ConfigError
from weft.sinks.conditions import Condition, parse_condition, text_of

ITEM = {
    "title": "Brown Bread",
    "price": 9.5,
    "stock": "12",
    "isbn": 12345678901234567891,
    "is_new": True,
    "author": {"name": "Ann Brown", "born": None},
    "tags": ["food", "bread"],
    "reviews": [{"stars": 5, "by": ["x"]}, {"stars": 2}],
    "a.b": "dotted",
    "a": {"c": 1},
    "deep.er": {"x.y": "both"},
    "none": None,
    "empty": [],
    "date": "2026-11-01T10:00:00Z",
    "made_at": datetime(2026, 11, 1, 10, tzinfo=UTC),
    "cost": Decimal("1.50"),
}


@pytest.mark.parametrize(
    "text",
    [
        "title=Brown Bread",
        " title = Brown Bread ",
        "title~BREAD",
        "title!=bread",
        "price<10",
        "price<=9.5",
        "price>9",
        "price>=9.50",
        "price=9.50",
        "price!=10",
        "stock>9",  # as text it is less
        "stock=12.0",
        "isbn=12345678901234567891",
        "isbn!=12345678901234567890",
        "is_new=true",
        "author.name~brown",
        "author~ann brown",
        "tags=bread",
        "tags~oo",
        "reviews.stars>4",
        "reviews.stars<3",
        "reviews.by=x",
        "a.b=dotted",
        "a.c=1",
        "deep.er.x.y=both",
        "none=",
        "empty=",
        "missing=",
        "author.born=",
        "author.missing=",
        "author.name.first=",
        "title!=",
        "missing!=x",
        "date>=2026-11-01",
        "date<2026-11-02",
        "date>2026",
        "made_at>=2026-11-01T10",
        "cost<1.6",
        "title~",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    assert parse_condition(text).holds(ITEM)


@pytest.mark.parametrize(
    "text",
    [
        "title=brown bread",
        "title~rye",
        "price<9.5",
        "price>9.5",
        "price=9",
        "stock<9",
        "isbn=12345678901234567890",
        "is_new=1",
        "author.name=Brown",
        "tags!=bread",
        "tags=foodbread",
        "reviews.stars=3",
        "reviews.stars!=5",
        "a.b.c=1",
        "none=null",
        "none<1",
        "none>",
        "missing~",
        "missing<1",
        "missing!=",
        "title=",
        "date<2026-11-01",
        "cost=1.6",
    ],
)
def test_a_condition_that_does_not_hold(text: str) -> None:
    assert not parse_condition(text).holds(ITEM)


@pytest.mark.parametrize("text", ["", "price", "=3", " =3", "price==3", "price!3", "a!b=3", "~x"])
def test_what_is_no_condition_is_told_with_the_forms(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a condition; write field=value"):
        parse_condition(text)


def test_only_the_first_sign_divides() -> None:
    assert parse_condition("url~?a=1&b<2") == Condition("url", "~", "?a=1&b<2")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("a", "a"),
        (1, "1"),
        (1.5, "1.5"),
        (False, "false"),
        ([1, "ü"], '[1,"ü"]'),
        ({"a": {1: None}}, '{"a":{"1":null}}'),
        (Decimal("1.50"), "1.50"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (b"ab", "YWI="),
    ],
)
def test_values_have_a_text(value: Any, text: str) -> None:
    assert text_of(value) == text

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Optional

import scrapy

from weft.engine.scrapy.declared import declared_fields

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]


@dataclass
class Book:
    name: str
    price: Decimal | None = None
    pages: Optional[int] = None  # noqa: UP045 - as many write it
    tags: list[str] = field(default_factory=list)
    either: int | str = 0
    thing: Any = None


@dataclass
class Unknown:
    name: "Missing"


class Film(scrapy.Item):
    title = scrapy.Field()
    minutes = scrapy.Field(type=int)


def test_annotations_tell_types() -> None:
    assert declared_fields(Book) == {
        "name": str,
        "price": Decimal,
        "pages": int,
        "tags": list,
        "either": None,
        "thing": None,
    }


def test_a_scrapy_item_may_tell_them() -> None:
    assert declared_fields(Film) == {"title": None, "minutes": int}


def test_types_that_cannot_be_found_are_any() -> None:
    assert declared_fields(Unknown) == {"name": None}


def test_a_dict_declares_nothing() -> None:
    assert declared_fields(dict) is None

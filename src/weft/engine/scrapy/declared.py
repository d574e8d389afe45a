"""What the class of an item declares about its fields: their names, and their types if known.

Dataclasses, attrs and Pydantic classes have annotations. A Scrapy item can say `price =
scrapy.Field(type=float)`.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from itemadapter import ItemAdapter


def declared_fields(kind: type) -> Mapping[str, type | None] | None:
    """None if it declares no fields, like a dict. A type of None means any."""
    return None if kind is dict else _declared_fields(kind)


@lru_cache(maxsize=1000)
def _declared_fields(kind: Hashable) -> Mapping[str, type | None] | None:
    assert isinstance(kind, type)
    names = ItemAdapter.get_field_names_from_class(kind)
    if names is None:
        return None
    try:
        hints = get_type_hints(kind)
    except Exception:  # names that exist only for a type checker
        hints = {}
    return MappingProxyType({name: _type_of(kind, name, hints) for name in names})


def _type_of(kind: type, name: str, hints: Mapping[str, Any]) -> type | None:
    told = ItemAdapter.get_field_meta_from_class(kind, name).get("type")
    return _plain_type(told if told is not None else hints.get(name))


def _plain_type(hint: Any) -> type | None:
    """`int` of `int | None` and of `Optional[int]`, `list` of `list[str]`."""
    if get_origin(hint) in (Union, UnionType):
        parts = [part for part in get_args(hint) if part is not NoneType]
        return _plain_type(parts[0]) if len(parts) == 1 else None
    hint = get_origin(hint) or hint
    # Since Python 3.11 `Any` is a class.
    return hint if isinstance(hint, type) and hint not in (Any, object) else None

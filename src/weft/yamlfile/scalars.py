"""The values of single nodes, and what values and types are called."""

from typing import TypeAlias

import msgspec.inspect as kinds
from yaml.nodes import MappingNode, Node, ScalarNode

Scalar: TypeAlias = str | int | float | bool | None

_TRUTHS = {"true": True, "false": False}
#: What is told of numbers that break a limit of their type.
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def value_of(node: ScalarNode) -> Scalar:
    """Raises ValueError for what only looks like a number."""
    text = node.value
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return _truth(text)
        case "int":
            return int(text, 0 if text[:2] in ("0o", "0x") else 10)
        case "float":
            return float(text)
        case _:
            return str(text)


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError(f"{text} is not true or false")
    return _TRUTHS[text.lower()]


def fits(value: Scalar, kind: kinds.Type) -> bool:
    """Whether the type takes such a value, limits aside."""
    match kind:
        case kinds.StrType():
            return isinstance(value, str)
        case kinds.BoolType():
            return isinstance(value, bool)
        case kinds.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case kinds.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case kinds.NoneType():
            return value is None
        case _:
            return False


def broken_limit(value: Scalar, kind: kinds.Type) -> str:
    """What the type asks for in addition; empty if the value is as it asks."""
    if isinstance(kind, kinds.StrType) and isinstance(value, str):
        return "a text that is not empty is wanted" if len(value) < (kind.min_length or 0) else ""
    if isinstance(kind, kinds.IntType | kinds.FloatType) and isinstance(value, int | float):
        for name, words in _BOUNDS.items():
            bound = getattr(kind, name)
            if bound is not None and not _keeps(value, name, bound):
                return f"a number of {words} {bound} is wanted"
    return ""


def _keeps(value: float, name: str, bound: float) -> bool:
    if name in ("ge", "gt"):
        return value > bound or (name == "ge" and value == bound)
    return value < bound or (name == "le" and value == bound)


def name_of_node(node: Node) -> str:
    if isinstance(node, ScalarNode):
        names = {"null": "nothing", "bool": "true or false", "int": "a number"}
        return names.get(node.tag.rpartition(":")[2], _number_or_text(node))
    return "a mapping" if isinstance(node, MappingNode) else "a list"


def _number_or_text(node: ScalarNode) -> str:
    return "a number" if node.tag.endswith("float") else "a text"


def name_of_kind(kind: kinds.Type) -> str:
    match kind:
        case kinds.Metadata():
            return name_of_kind(kind.type)
        case kinds.UnionType():
            *others, last = dict.fromkeys(map(name_of_kind, kind.types))
            return f"{', '.join(others)} or {last}" if others else last
        case kinds.StructType() | kinds.DictType():
            return "a mapping"
        case kinds.ListType() | kinds.VarTupleType():
            return "a list"
        case kinds.LiteralType():
            return "a word"
        case kinds.IntType():
            return "a whole number"
        case kinds.FloatType():
            return "a number"
        case kinds.BoolType():
            return "true or false"
        case kinds.NoneType():
            return "nothing"
        case _:
            return "a text"

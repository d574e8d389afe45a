"""Compares nodes with the types that are declared for them.

Types are what msgspec reads from annotations: Structs, mappings with text keys, lists, tuples of
any length, unions, literals, and scalars with `ge`, `gt`, `le`, `lt` or `min_length`. A type can
have a check of its own: `Annotated[str, Meta(extra={"check": check})]`, a function that takes the
value and gives the problems that it has.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec.inspect as kinds
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from weft.yamlfile.mistakes import START, Mistakes, cure
from weft.yamlfile.scalars import broken_limit, fits, name_of_kind, name_of_node, value_of
from weft.yamlfile.syntax import place_of

#: Aliases can make a short file endless.
MAX_NODES = 100_000
#: Stands for the value of a node that has a mistake.
FAILED: Any = object()

_COMMENT = re.compile(r"\s*#\S")


class Problem(NamedTuple):
    """What a check finds wrong with a value."""

    text: str
    #: The key of a mapping whose value is wrong; empty: the whole.
    key: str = ""


class TypedReader:
    """Turns the nodes of one file into values."""

    def __init__(self, text: str, mistakes: Mistakes) -> None:
        self._lines = text.splitlines()
        self._mistakes = mistakes
        self._left = MAX_NODES

    def read(self, node: Node, kind: kinds.Type, path: str = "") -> Any:
        """The value; FAILED if it has a mistake."""
        self._left -= 1
        if self._left < 0:
            self._mistakes.add(START, "aliases (*) make this file too large; use fewer")
            return FAILED
        match kind:
            case kinds.Metadata():
                return self._read_checked(node, kind, path)
            case kinds.UnionType():
                return self._read_union(node, kind, path)
            case kinds.StructType() if isinstance(node, MappingNode):
                return self._read_struct(node, kind, path)
            case kinds.DictType() if isinstance(node, MappingNode):
                return self._read_dict(node, kind, path)
            case kinds.ListType() | kinds.VarTupleType() if isinstance(node, SequenceNode):
                return self._read_list(node, kind, path)
            case kinds.LiteralType() if _is_text(node):
                return self._read_word(node, kind, path)
            case _ if isinstance(node, ScalarNode):
                return self._read_scalar(node, kind, path)
            case _:
                return self._refuse(node, kind, path)

    def _read_checked(self, node: Node, kind: kinds.Metadata, path: str) -> Any:
        check = (kind.extra or {}).get("check")
        if check is None:
            return self.read(node, kind.type, path)
        if isinstance(kind.type, kinds.DictType) and isinstance(node, MappingNode):
            values = self._read_entries(node, kind.type, path)
            sound = {key: value for key, value in values.items() if value is not FAILED}
            is_sound = self._passes(check(sound), node, path) and len(sound) == len(values)
            return sound if is_sound else FAILED
        value = self.read(node, kind.type, path)
        return value if value is FAILED or self._passes(check(value), node, path) else FAILED

    def _passes(self, problems: Iterable[Problem], node: Node, path: str) -> bool:
        passes = True
        for problem in problems:
            self._add(_part(node, problem.key), _joined(path, problem.key), problem.text)
            passes = False
        return passes

    def _read_union(self, node: Node, union: kinds.UnionType, path: str) -> Any:
        if word := _word_with_value(node, union):
            what = f'"{word}" takes no value; write it without the colon'
            return self._add(node, path, what)
        for kind in union.types:
            if _takes(_bare(kind), node):
                return self.read(node, kind, path)
        words = next((kind for kind in map(_bare, union.types) if _is_words(kind)), None)
        if words is not None and _is_text(node):
            return self._refuse_word(node, words, path, _keys_of(union))
        return self._refuse(node, union, path)

    def _read_struct(self, node: MappingNode, kind: kinds.StructType, path: str) -> Any:
        fields = {field.encode_name: field for field in kind.fields}
        values: dict[str, Any] = {}
        for key, part in node.value:
            if not isinstance(key, ScalarNode):
                continue  # told with the syntax
            if field := fields.get(key.value):
                values[field.name] = self.read(part, field.type, _joined(path, key.value))
            else:
                what = f'the key "{key.value}" is unknown; {cure(key.value, fields)}'
                values[key.value] = self._add(key, path, what)
        for name, field in fields.items():
            if field.required and field.name not in values:
                self._add(node, path, f'the key "{name}" is missing; add it')
                values[field.name] = FAILED
        return FAILED if FAILED in values.values() else kind.cls(**values)

    def _read_dict(self, node: MappingNode, kind: kinds.DictType, path: str) -> Any:
        values = self._read_entries(node, kind, path)
        return FAILED if FAILED in values.values() else values

    def _read_entries(self, node: MappingNode, kind: kinds.DictType, path: str) -> dict[str, Any]:
        """FAILED stands for the value of an entry that has a mistake."""
        values = {}
        for key, part in node.value:
            if isinstance(key, ScalarNode):
                inner = _joined(path, key.value)
                name = self.read(key, kind.key_type, inner)
                value = self.read(part, kind.value_type, inner)
                values[key.value] = value if name is not FAILED else FAILED
        return values

    def _read_list(
        self, node: SequenceNode, kind: kinds.ListType | kinds.VarTupleType, path: str
    ) -> Any:
        if len(node.value) < (kind.min_length or 0):
            return self._add(node, path, "the list is empty; fill it, or remove it")
        values = [
            self.read(part, kind.item_type, f"{path}[{number}]")
            for number, part in enumerate(node.value, 1)
        ]
        if FAILED in values:
            return FAILED
        return values if isinstance(kind, kinds.ListType) else tuple(values)

    def _read_word(self, node: Node, kind: kinds.LiteralType, path: str) -> Any:
        if node.value in kind.values:
            return node.value
        return self._refuse_word(node, kind, path, ())

    def _read_scalar(self, node: ScalarNode, kind: kinds.Type, path: str) -> Any:
        try:
            value = value_of(node)
        except ValueError:
            return self._add(node, path, "this number cannot be read; put it in quotes")
        if not fits(value, kind):
            return self._refuse(node, kind, path)
        if limit := broken_limit(value, kind):
            return self._add(node, path, f"{limit}, not {node.value or 'nothing'}")
        return value

    def _refuse(self, node: Node, kind: kinds.Type, path: str) -> Any:
        what = f"{name_of_kind(kind)} is wanted here, not {name_of_node(node)}"
        return self._add(node, path, f"{what}; {self._cure(node, kind)}")

    def _cure(self, node: Node, kind: kinds.Type) -> str:
        wanted = name_of_kind(kind)
        if name_of_node(node) == "nothing" and self._is_before_comment(node):
            return "what follows # is a comment: put it in quotes"
        if isinstance(node, ScalarNode) and node.value and "a text" in wanted:
            return "put it in quotes"
        if isinstance(node, ScalarNode) and node.value and "a list" in wanted:
            return "write [ ] around it, or each entry in a line of its own after -"
        if wanted == "a mapping":
            return 'write lines such as "key: value"'
        return "change or remove it"

    def _is_before_comment(self, node: Node) -> bool:
        mark = node.start_mark
        line = self._lines[mark.line] if mark.line < len(self._lines) else ""
        return bool(_COMMENT.match(line, mark.column))

    def _refuse_word(self, node: Node, kind: kinds.Type, path: str, keys: Iterable[str]) -> Any:
        word = node.value
        if word in keys:
            return self._add(node, path, f'"{word}" needs a value; write "{word}: VALUE"')
        words = [str(value) for value in getattr(kind, "values", ())]
        return self._add(node, path, f'"{word}" is unknown; {cure(word, [*words, *keys])}')

    def _add(self, node: Node, path: str, text: str) -> Any:
        self._mistakes.add(place_of(node), f"{path}: {text}" if path else text)
        return FAILED


def _bare(kind: kinds.Type) -> kinds.Type:
    return _bare(kind.type) if isinstance(kind, kinds.Metadata) else kind


def _takes(kind: kinds.Type, node: Node) -> bool:
    """Whether the node is of this type of a union, as far as one can see from outside."""
    match kind:
        case kinds.StructType() | kinds.DictType():
            return isinstance(node, MappingNode)
        case kinds.ListType() | kinds.VarTupleType():
            return isinstance(node, SequenceNode)
        case kinds.LiteralType():
            return _is_text(node) and node.value in kind.values
        case _:
            return isinstance(node, ScalarNode) and _fits(node, kind)


def _fits(node: ScalarNode, kind: kinds.Type) -> bool:
    try:
        return fits(value_of(node), kind)
    except ValueError:
        return False


def _is_text(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag.endswith(":str")


def _is_words(kind: kinds.Type) -> bool:
    return isinstance(kind, kinds.LiteralType)


def _word_with_value(node: Node, union: kinds.UnionType) -> str:
    """The only key of a mapping, if it is a word of the union and no key; empty for others."""
    if not isinstance(node, MappingNode) or len(node.value) != 1:
        return ""
    word = node.value[0][0].value
    words = [kind for kind in map(_bare, union.types) if isinstance(kind, kinds.LiteralType)]
    is_word = any(word in kind.values for kind in words)
    return word if is_word and word not in _keys_of(union) else ""


def _keys_of(union: kinds.UnionType) -> list[str]:
    """The keys of the mapping that may stand in the place of a word."""
    structs = [kind for kind in map(_bare, union.types) if isinstance(kind, kinds.StructType)]
    return [field.encode_name for struct in structs for field in struct.fields]


def _part(node: Node, key: str) -> Node:
    """The value of a key, or the whole."""
    if key and isinstance(node, MappingNode):
        return next((part for name, part in node.value if name.value == key), node)
    return node


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path and key else path or key

"""From text to nodes that know where they stand."""

import re
from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from weft.yamlfile.mistakes import START, Mistakes, YamlPlace

#: Nobody writes more by hand.
MAX_BYTES = 1_000_000
#: Mistakes of PyYAML, and what to do about them.
_CURES = (
    (r"character '\\t'", "indent with spaces, not with tabs"),
    (r"character '[@`%]'", "put the text in quotes"),
    ("alias|anchor", "put a text that begins with * or & in quotes"),
    ("mapping values", 'indent it like its neighbours, and put a text with ": " in it in quotes'),
    ("quoted scalar|end of stream", "close the quotation mark or bracket"),
    ("escape|hexadecimal", "write the backslash twice, or use single quotes"),
    ("another document|document start", "keep to one document, without --- or text after it"),
    ("':'", "write a colon after the key"),
    ("tag", "remove the tag, or put a text that begins with ! in quotes"),
)
_OTHER_CURE = (
    "check the indentation, and put a text in quotes if it begins with one of [ ] { } & * ! | > % @"
)
_TAG = "tag:yaml.org,2002:"
#: What is not text, as YAML 1.2 has it: its characters, and those it begins with.
_SCALARS = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        list("-+0123456789."),
    ),
)
_KNOWN_TAGS = {_TAG + name for name in ("str", "map", "seq", *(name for name, *_ in _SCALARS))}


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 (as PyYAML has it)


for _name, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _first)


def place_of(node: Node) -> YamlPlace:
    return YamlPlace(node.start_mark.line + 1, node.start_mark.column + 1)


def decode_file(content: bytes, mistakes: Mistakes) -> str:
    if len(content) > MAX_BYTES:
        mistakes.fail(START, f"the file has more than {MAX_BYTES:,} bytes; split it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        mistakes.fail(YamlPlace(line), "this is not UTF-8; save the file as UTF-8")


def compose(text: str, mistakes: Mistakes) -> Node | None:
    """The root; None if there is nothing in the text. Raises ConfigError if it is no YAML."""
    try:
        node: Node | None = yaml.compose(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = YamlPlace(mark.line + 1, mark.column + 1) if mark else START
        mistakes.fail(place, _told(error.problem or error.context or ""))
    except yaml.reader.ReaderError as error:
        place = YamlPlace(text.count("\n", 0, error.position) + 1)
        mistakes.fail(place, "there is a control character here; remove it")
    except RecursionError:
        mistakes.fail(START, "lists or mappings are nested too deep; write them flat")
    except (ArithmeticError, ValueError):
        # PyYAML does not look at the numbers in escapes such as "\UFFFFFFFF" and in directives.
        mistakes.fail(START, "an escape or directive has an impossible number; remove it")
    if node is not None:
        _check_nodes(node, mistakes)
    return node


def _told(problem: str) -> str:
    cure = next((cure for pattern, cure in _CURES if re.search(pattern, problem)), _OTHER_CURE)
    return f"this is not valid YAML ({problem}); {cure}"


def _check_nodes(root: Node, mistakes: Mistakes) -> None:
    """Tags and duplicate keys, whatever the file is about."""
    for node in _nodes(root):
        if node.tag not in _KNOWN_TAGS:
            name = node.tag.replace(_TAG, "!!")
            mistakes.add(place_of(node), f"tags such as {name} are not read here; remove it")
        if isinstance(node, MappingNode):
            _check_keys(node, mistakes)


def _nodes(root: Node) -> Iterator[Node]:
    """Each once, even if aliases make a circle."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, SequenceNode):
            waiting += node.value


def _check_keys(mapping: MappingNode, mistakes: Mistakes) -> None:
    first: dict[str, YamlPlace] = {}
    for key, _ in mapping.value:
        if not isinstance(key, ScalarNode):
            mistakes.add(place_of(key), "a key must be a text; put it in quotes")
        elif key.value in first:
            line = first[key.value].line
            what = f'the key "{key.value}" stands in line {line} already; keep one of them'
            mistakes.add(place_of(key), what)
        else:
            first[key.value] = place_of(key)

"""The text of a board as it may be shown: without the passwords of its sinks."""

import re
from collections.abc import Callable, Iterator

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from weft.yamlfile.mistakes import Mistakes
from weft.yamlfile.syntax import compose

#: A user and password in an address; in comments, too.
_ACCOUNT = re.compile(r"(?<=://)[^\s/@:]*:\S*@")


def shown_text(text: str, shown_sink: Callable[[str], str]) -> str:
    """`shown_sink` gives the address of a sink as it may be shown."""
    spots = sorted(set(_sinks_of(text)), reverse=True)
    for start, end, address in spots:
        shown = shown_sink(address)
        if shown != address:
            # A text of several lines has the end of the last one, too.
            rest = text[start:end].rstrip()
            text = f"{text[:start]}{quoted(shown)}{text[start + len(rest) :]}"
    return _ACCOUNT.sub("***@", text)


def _sinks_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each sink stands in the text of a board that was read before."""
    root = compose(text, Mistakes(""))
    assert isinstance(root, MappingNode)
    for key, value in root.value:
        if key.value == "sinks" and isinstance(value, SequenceNode):
            for part in value.value:
                if isinstance(part, ScalarNode):
                    yield part.start_mark.index, part.end_mark.index, part.value


def quoted(address: str) -> str:
    return "'" + address.replace("'", "''") + "'"

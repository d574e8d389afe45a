"""The text of a page in blocks, and the container that holds most of its prose.

A block is an element that breaks lines and has text of its own. Prose is text outside of links that
is long enough to be sentences. The element around most of the prose is what a reader came for.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

#: Elements within a line: their text belongs to the block around them.
_INLINE = frozenset(
    {
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del",
        "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt",
        "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
        "var", "wbr"
    }
)  # fmt: skip
#: Elements whose text nobody reads, or that is no text.
_UNSEEN = frozenset(
    {
        "script", "style", "noscript", "template", "svg", "math", "textarea", "select", "option",
        "button", "iframe", "object", "head", "title"
    }
)  # fmt: skip
#: A CJK character says as much as this many letters.
CJK_WEIGHT = 2.5
#: Letters from which a block counts as prose.
PROSE = 80
#: How much of a block's prose counts for the element around it, and for those around that.
_SHARES = (1.0, 0.75, 0.4, 0.2)

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")


def weight(text: str) -> float:
    """The length of a text in letters, where a CJK character counts as several."""
    if text.isascii():
        return len(text)
    return len(text) + (CJK_WEIGHT - 1) * len(_CJK.findall(text))


# A page has hundreds: so they are made quickly, and nobody looks for cycles among them.
class Block(msgspec.Struct, eq=False, gc=False):
    """The text of one element, in letters."""

    node: LexborNode
    #: In the order of the page.
    number: int
    #: Letters outside of links.
    plain: float = 0.0
    #: Letters in links.
    linked: float = 0.0

    @property
    def prose(self) -> float:
        """What may be sentences; 0 for short and for linked text."""
        return self.plain if self.plain >= PROSE and self.plain > self.linked else 0.0


class Blocks:
    """All blocks of a page, in their order."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        found, texts = _blocks_of(tree)
        self.all: list[Block] = list(found.values())
        self._by_key = found
        #: What readers see, piece by piece.
        self.texts: list[str] = texts

    @cached_property
    def text(self) -> str:
        """What readers see, with a line for each piece."""
        return "\n".join(self.texts)

    def around(self, node: LexborNode) -> Block | None:
        """The block that the text of this element belongs to."""
        above: LexborNode | None = node
        while above is not None:
            block = self._by_key.get(above.mem_id)
            if block is not None:
                return block
            above = above.parent
        return None

    @cached_property
    def plain(self) -> float:
        return sum(block.plain for block in self.all)

    @cached_property
    def linked(self) -> float:
        return sum(block.linked for block in self.all)

    @cached_property
    def prose(self) -> float:
        return sum(block.prose for block in self.all)

    @cached_property
    def containers(self) -> list[tuple[float, LexborNode]]:
        """The elements around prose, the one with most of it first."""
        return rank_containers([block for block in self.all if block.prose])


def rank_containers(blocks: Iterable[Block]) -> list[tuple[float, LexborNode]]:
    """The elements around the prose of these blocks, the one with most of it first."""
    scores: dict[int, float] = defaultdict(float)
    nodes: dict[int, LexborNode] = {}
    for block in blocks:
        around: LexborNode | None = block.node.parent
        for share in _SHARES:
            if around is None:
                break
            nodes[around.mem_id] = around
            scores[around.mem_id] += share * block.prose
            around = around.parent
    ranked = sorted(scores, key=lambda key: -scores[key])
    return [(scores[key], nodes[key]) for key in ranked]


#: The block that a text belongs to, none if nobody sees it; and whether it is a link.
_Place = tuple[Block | None, bool]
_NOWHERE: _Place = (None, False)


def _blocks_of(tree: LexborHTMLParser) -> tuple[dict[int, Block], list[str]]:
    """The blocks by the `mem_id` of their elements, and all texts."""
    found: dict[int, Block] = {}
    texts: list[str] = []
    places: dict[int, _Place] = {}
    root = tree.body or tree.root
    if root is None:
        return found, texts
    for node in root.traverse(include_text=True):
        # Half of the texts are white space between tags; to ask the node is cheaper.
        if not node.is_text_node or node.is_empty_text_node:
            continue
        text = node.text_content
        parent = node.parent
        if not text or parent is None or not (text := text.strip()):
            continue
        key = parent.mem_id
        block, is_link = places.get(key) or _place_of(parent, key, found, places)
        if block is None:
            continue
        texts.append(text)
        letters = len(text) if text.isascii() else weight(text)
        if is_link:
            block.linked += letters
        else:
            block.plain += letters
    return found, texts


def _place_of(
    node: LexborNode, key: int, found: dict[int, Block], places: dict[int, _Place]
) -> _Place:
    """The place of the text of this element, and of those above it in the same line: all are kept,
    because thousands may be nested."""
    passed: list[tuple[int, bool]] = []
    around: LexborNode | None = node
    place = None
    while place is None and around is not None and (tag := around.tag) in _INLINE:
        passed.append((key, tag == "a"))
        around = around.parent
        key = around.mem_id if around is not None else 0
        place = places.get(key)
    if place is None:
        place = places[key] = _place_by_tag(around, key, found)
    block, is_link = place
    for inner, is_anchor in reversed(passed):
        is_link = is_link or is_anchor
        place = places[inner] = (block, is_link)
    return place


def _place_by_tag(node: LexborNode | None, key: int, found: dict[int, Block]) -> _Place:
    """The place of the text in an element that makes a block, or hides its text."""
    if node is None or node.tag in _UNSEEN:
        return _NOWHERE
    block = found[key] = Block(node, len(found))
    return block, False

"""Where a link stands in a page, and what its URL looks like: what links of one kind share.

A `Place` is an element above links (or the link itself). Each is made once, because links share
most of the elements above them, and asking the tree costs more than everything else here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

import msgspec
from selectolax.lexbor import LexborNode

#: So many elements make a path: fewer mix titles with menus, more part the cards of one list.
PATH_LENGTH = 5
#: An element with such a share of the page's links is the page itself, whatever its class says.
WHOLE_PAGE = 0.85
#: A part of a URL that is longer is a slug: the words of a title.
LONGEST_WORD = 20

#: How surely a place is no content: not at all, by its name, by its tag.
CONTENT, NAMED_FRAME, TAGGED_FRAME = 0, 1, 2

_FRAME_TAGS = {
    "nav": TAGGED_FRAME,
    "footer": TAGGED_FRAME,
    "dialog": TAGGED_FRAME,
    "header": NAMED_FRAME,
    "aside": NAMED_FRAME,
}
#: Words of class names and ids, English all over the world. They count at the end of a name, where
#: English has its nouns: `tag-news` is an article about news, `news-tags` are tags.
_FRAME_NAME = re.compile(
    r"(?<!with-)(?<!has-)(?<!no-)(?<![a-z])("
    r"nav|navi|navbar|navigation|topnav|subnav|sidenav|menu|submenu|megamenu|dropdown"
    r"|breadcrumbs?|crumbs?|pagination|pager|paging|share|sharing|social|filters?|facets?"
    r"|refinements?|cookies?|consent|login|toolbar|topbar|langs?|languages?|skip|copyright"
    r"|aside|sidebar|tags?|tagcloud|meta|byline|authors?|blogroll|toc|comments?"
    r"|header|footer|foot"
    r")(?:[-_]+(?:wrap|wrapper|container|inner|list|items?|links?|bar|section|area|block|box|col"
    r"|columns?|content|row|group|main|top|bottom|left|right|desktop|mobile))*$"
)
#: Cards have them, too.
_PARTS_OF_CARDS = frozenset({"header", "footer", "foot"})
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGITS = re.compile(r"\d+")
#: Cards of a list and what holds them; they have headers and footers of their own.
_CARD_TAGS = frozenset({"article", "li", "main", "tr"})


class ElementLook(NamedTuple):
    """What the tag, the classes and the id of an element say about it."""

    #: The tag and the first class: it says what an element is; those after it say how it looks.
    name: str
    frame: int
    #: A menu is a frame also within a card, a header is not.
    is_frame_in_cards: bool
    is_card: bool


# A list has a thousand: so they are made quickly, and nobody looks for cycles among them.
class Place(msgspec.Struct, eq=False, gc=False):
    """An element above links."""

    #: The `mem_id` of the element.
    key: int
    tag: str
    look: ElementLook
    parent: "Place | None"
    #: The names of this element and those above it, without positions.
    path: tuple[str, ...]
    in_card: bool
    #: How many links are below; known when the places are settled.
    count: int = 0
    frame: int = CONTENT

    def upward(self) -> Iterator["Place"]:
        """This place and all above it."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent


class Places:
    """The places of one page."""

    def __init__(self) -> None:
        self._known: dict[int, Place] = {}

    def of(self, link: LexborNode, attributes: Mapping[str, str | None]) -> Place:
        """The place of a link."""
        key = link.mem_id
        place = self._known.get(key)
        if place is None:
            parent = self._around(link.parent)
            place = self._known[key] = _place(key, "a", attributes, parent)
        place.count += 1
        return place

    def _around(self, node: LexborNode | None) -> Place | None:
        """The place of an element, or of none."""
        known = self._known
        missing: list[LexborNode] = []
        place: Place | None = None
        while node is not None:
            place = known.get(node.mem_id)
            if place is not None:
                break
            missing.append(node)
            node = node.parent
        for above in reversed(missing):
            if above.is_element_node:  # not the document
                key = above.mem_id
                place = known[key] = _place(key, above.tag or "", above.attributes, place)
        return place

    def settle(self) -> None:
        """Count the links below each place and find the frames, when all links are known."""
        places = list(self._known.values())
        for place in reversed(places):
            if place.parent is not None:
                place.parent.count += place.count
        most = WHOLE_PAGE * places[0].count if places else 0.0
        for place in places:
            parent = place.parent
            if parent is None or place.tag == "main":
                continue
            frame = place.look.frame
            if frame > parent.frame and _is_frame(place, most):
                place.frame = frame
            else:
                place.frame = parent.frame


def _place(key: int, tag: str, attributes: Mapping[str, str | None], parent: Place | None) -> Place:
    look = _look(tag, attributes.get("class"), attributes.get("id"))
    if parent is None:
        return Place(key, tag, look, None, (look.name,), look.is_card)
    path = (look.name, *parent.path[: PATH_LENGTH - 1])
    return Place(key, tag, look, parent, path, look.is_card or parent.in_card)


def _is_frame(place: Place, most: float) -> bool:
    """What the look of a place says is true."""
    if place.in_card and not place.look.is_frame_in_cards:
        return False
    return place.count <= most or place.look.frame == TAGGED_FRAME


@lru_cache(8192)
def _look(tag: str, classes: str | None, name: str | None) -> ElementLook:
    first = (classes or "").split(maxsplit=1)[:1]
    called = tag + "." + _DIGITS.sub("", first[0]) if first else tag
    if tag in ("html", "body", "main"):
        return ElementLook(called, CONTENT, False, tag in _CARD_TAGS)
    frame = _FRAME_TAGS.get(tag, CONTENT)
    is_frame_in_cards = tag in ("nav", "aside", "dialog")
    for word in f"{classes or ''} {name or ''}".split():
        said = _frame_word(word)
        if said:
            frame = max(frame, NAMED_FRAME)
            is_frame_in_cards = is_frame_in_cards or said not in _PARTS_OF_CARDS
    return ElementLook(called, frame, is_frame_in_cards, tag in _CARD_TAGS)


@lru_cache(8192)
def _frame_word(name: str) -> str:
    """The word of a class or an id that says that this is a frame; empty if none does."""
    match = _FRAME_NAME.search(_CAMEL.sub("-", name).lower())
    return match[1] if match else ""


def find_cards(links: Sequence[tuple[str, Place]]) -> set[Place]:
    """The largest elements around each link, of URL and place, that hold no other of these URLs."""
    owners = _owners(links)
    heights = [_height(place, owners) for _, place in links]
    # The only link of a section would else have the whole section for its card.
    usual = Counter(heights).most_common(1)[0][0]
    return {
        next(islice(place.upward(), min(height, usual), None))
        for (_, place), height in zip(links, heights, strict=True)
    }


def _owners(links: Sequence[tuple[str, Place]]) -> dict[Place, str]:
    """For each place above links the URL of its only link, or "" if it has several."""
    owners: dict[Place, str] = {}
    for url, start in links:
        for place in start.upward():
            owner = owners.setdefault(place, url)
            if not owner:
                break
            if owner != url:
                owners[place] = ""
    return owners


def _height(start: Place, owners: dict[Place, str]) -> int:
    """How many elements above a link hold only this one."""
    height = sum(1 for _ in takewhile(owners.__getitem__, start.upward()))
    return max(0, height - 1)


@lru_cache(16384)
def shape_of(url: str) -> str:
    """The host of an absolute URL and what stands for the parts of its path: N for a number, S for
    a slug, D for what has digits, w for a word; and the names in its query."""
    path, _, query = url.partition("//")[2].partition("?")
    head, slash, last = path.rpartition("/")
    shape = _shape_of_head(head) + _kind(last) if slash else path + "/"
    if query:
        shape += "?" + ",".join(sorted([pair.partition("=")[0] for pair in query.split("&")]))
    return shape


@lru_cache(4096)
def _shape_of_head(head: str) -> str:
    """Of a host and the parts of a path, but for the last: those of a list share them."""
    host, *parts = head.split("/")
    return host + "/" + "".join([_kind(part) for part in parts])


@lru_cache(4096)
def _kind(part: str) -> str:
    if not part:
        return ""
    if part.isdigit():
        return "N"
    if len(part) > LONGEST_WORD or part.count("-") + part.count("_") > 1:
        return "S"
    return "D" if _DIGITS.search(part) else "w"

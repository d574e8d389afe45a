"""The part of a page around its title, where date and author stand."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.texts import key
from weft.boards.reading.page import Page

#: Where titles stand, the most likely place first.
_TITLE_PLACES = ("h1", "h2, h3", '[class*="tit" i], [id*="tit" i], [itemprop="headline"]')
#: What has no text for readers.
_SILENT = frozenset(
    ("script", "style", "noscript", "template", "svg", "option", "textarea", "head", "title")
)
#: How many nodes are looked at: a step costs half a microsecond or more.
MAX_NODES = 600
#: How many nodes are searched for the text of a title that no usual place has.
MAX_SEARCH = 3000
#: Longer texts are cut: of a region, and of a page.
MAX_CHARACTERS = 2500
MAX_WHOLE_CHARACTERS = 100_000
#: How much white space and how many signs a title may have around it.
MAX_SPACE = 100
#: How many elements of a kind are compared with the title.
MAX_PLACES = 60


class Region(NamedTuple):
    #: The texts in their order, with line breaks between them.
    text: str
    #: The elements, each with the place in the text where it begins.
    elements: list[tuple[int, LexborNode]]


NOWHERE = Region("", [])


class Surroundings:
    """What stands around the title of a page. Date and author are both searched for in it, so each
    part is made once, when somebody asks."""

    def __init__(self, page: Page, title: str) -> None:
        self._page = page
        self._title = title

    @cached_property
    def start(self) -> LexborNode | None:
        """The element that shows the title."""
        return _find_title(self._page, self._title)

    @cached_property
    def after(self) -> Region:
        """What follows the title."""
        if self.start is None:
            return NOWHERE
        return _collect(_walk(self.start, MAX_NODES, is_inside=False), MAX_CHARACTERS)

    @cached_property
    def before(self) -> Region:
        """What precedes the title, near it."""
        if self.start is None:
            return NOWHERE
        nodes = list(_walk_back(self.start, MAX_NODES // 6))
        return _collect(reversed(nodes), MAX_CHARACTERS)

    @cached_property
    def whole_text(self) -> str:
        """The text of all of the page, as far as it is not too long, with that of its scripts."""
        body = self._page.tree.body
        return body.text(separator="\n", strip=True)[:MAX_WHOLE_CHARACTERS] if body else ""


def _find_title(page: Page, title: str) -> LexborNode | None:
    """The element that shows the title."""
    wanted = key(title)
    if not wanted:
        return None
    limit = 2 * len(title) + MAX_SPACE
    for place in _TITLE_PLACES:
        for node in page.tree.css(place)[:MAX_PLACES]:
            text = node.text(deep=True)
            if len(text) < limit and key(text) == wanted:
                return node
    return _find_text(page, wanted) or page.tree.css_first("h1")


def _find_text(page: Page, wanted: str) -> LexborNode | None:
    body = page.tree.body
    for node in _walk(body, MAX_SEARCH) if body else ():
        if node.is_text_node:
            text = (node.text_content or "").strip()
            if len(text) >= len(wanted) and key(text) == wanted:
                return node
    return None


def _collect(nodes: Iterable[LexborNode], limit: int) -> Region:
    texts: list[str] = []
    elements: list[tuple[int, LexborNode]] = []
    size = 0
    for node in nodes:
        if not node.is_text_node:
            elements.append((size, node))
        elif text := (node.text_content or "").strip():
            texts.append(text)
            size += len(text) + 1
            if size > limit:
                break
    return Region("\n".join(texts)[:limit], elements)


def _walk(node: LexborNode, limit: int, *, is_inside: bool = True) -> Iterator[LexborNode]:
    """The nodes inside this one and after it, in the order of the page."""
    current = node.first_child if is_inside else _next_outside(node)
    for _ in range(limit):
        if current is None:
            return
        yield current
        inner = current.first_child if current.tag not in _SILENT else None
        current = inner or _next_outside(current)


def _next_outside(node: LexborNode) -> LexborNode | None:
    current: LexborNode | None = node
    while current is not None:
        if current.next is not None:
            return current.next
        current = current.parent
    return None


def _walk_back(node: LexborNode, limit: int) -> Iterator[LexborNode]:
    current: LexborNode | None = node
    for _ in range(limit):
        if current is None:
            return
        step = current.prev
        if step is None:
            current = current.parent
            continue
        while step.tag not in _SILENT and step.last_child is not None:
            yield step
            step = step.last_child
        current = step
        yield current

"""Finds the posts of a thread: of a forum, of questions and answers.

Extractors of articles take one part of such a page and leave the rest as comments. But here the
posts are what a reader came for. They look alike: elements with the same tag and class, which hold
most of the text of the page.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.linked import types
from weft.boards.reading.article.texts import key
from weft.boards.reading.blocks import Block
from weft.boards.reading.page import Page, blocks_of

#: Types of JSON-LD and of microdata whose text is that of several people.
_LIVE = "LiveBlogPosting"
_THREADS = ("DiscussionForumPosting", "QAPage", _LIVE)
_MICRODATA = ", ".join(f'[itemtype$="schema.org/{name}"]' for name in _THREADS)
#: How far above the first post its introduction is searched.
OPENING_HEIGHT = 4
#: What forum software puts into the URL of a thread: the programs have few conventions.
_URL = re.compile(
    r"^https?://(?:forums?|community|discuss|discourse|boards?|bbs|answers)\."
    r"|/(?:forums?|threads?|viewforum|viewtopic|showthread|showtopic)[/.?-]"
    r"|[?&](?:topic|threadid|tid)=",
    re.IGNORECASE,
)
_SOFTWARE = re.compile(
    r"discourse|phpbb|vbulletin|xenforo|mybb|flarum|nodebb|discuz|vanilla|invision|smf",
    re.IGNORECASE,
)
#: Elements that may hold a post. Those of one paragraph may not: articles have many of them.
_HOLDERS = frozenset(("div", "article", "section", "li", "td", "tr", "blockquote", "dd"))
_OPENINGS = _HOLDERS | {"p"}
#: Dialogs about cookies consist of parts that look alike, too.
_DIALOG = re.compile(r"cookie|consent|gdpr", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
#: Shorter blocks are dates, ranks and buttons.
MIN_TEXT = 25
#: Posts hold at least this share of the text of the page.
MIN_SHARE = 0.3
#: A part of the posts is taken instead of them if it has this share of their text: what it leaves
#: out is about the people who wrote.
INNER_SHARE = 0.7
#: A quotation that is shorter, or is in no earlier post, is part of the post.
MIN_QUOTATION = 20
#: So much of the beginning or end of a quotation is searched in earlier posts.
QUOTATION_SAMPLE = 40

_Look = tuple[str, str]


def is_thread(page: Page) -> bool:
    """Whether the page says that it is a thread, by its types, its URL or its software."""
    return (
        bool(_URL.search(page.url))
        or any(name in _THREADS for entry in page.json_ld for name in types(entry))
        or bool(_SOFTWARE.search(page.meta("generator")))
        or page.tree.css_first(_MICRODATA) is not None
    )


def find_posts(page: Page) -> list[LexborNode]:
    """The elements with the posts of a thread, in their order; none if the page is no thread."""
    if not is_thread(page):
        return []
    blocks = [block for block in blocks_of(page).all if block.plain or block.linked]
    looks = _Looks(blocks)
    look = looks.best()
    posts = list(looks.nodes[look].values()) if look else []
    return [*_opening(posts, blocks), *posts] if posts and _is_opened(page) else posts


def _is_opened(page: Page) -> bool:
    """Whether what precedes the posts belongs to them: a live blog has an introduction. In
    forums it is a notice."""
    return any(_LIVE in types(entry) for entry in page.json_ld)


def _opening(posts: list[LexborNode], blocks: list[Block]) -> list[LexborNode]:
    """The nearest elements with prose beside and before the first post, or before what holds it."""
    prose = {node.mem_id for block in blocks if block.prose for node in _upward(block.node)}
    for around in islice(_upward(posts[0]), OPENING_HEIGHT):
        beside = [
            node for node in _before(around) if node.mem_id in prose and node.tag in _OPENINGS
        ]
        if beside:
            return beside[::-1]
    return []


def _before(node: LexborNode) -> Iterator[LexborNode]:
    """The elements before an element under the same parent, backwards."""
    beside = node.prev
    while beside is not None:
        yield beside
        beside = beside.prev


class _Looks:
    """The elements of a page by tag and class, and how much text is in those that look alike."""

    def __init__(self, blocks: list[Block]) -> None:
        self.nodes: dict[_Look, dict[int, LexborNode]] = defaultdict(dict)
        #: Letters of real text, and of all text.
        self._text: dict[_Look, float] = defaultdict(float)
        self._all: dict[_Look, float] = defaultdict(float)
        self._known: dict[int, dict[_Look, LexborNode] | None] = {}
        self._whole = 0.0
        for block in blocks:
            self._add(block)

    def _add(self, block: Block) -> None:
        around = self._around(block.node)
        if around is None:
            return
        text = block.plain if block.plain >= MIN_TEXT and block.plain > block.linked else 0.0
        self._whole += text
        for look, node in around.items():
            self.nodes[look][node.mem_id] = node
            self._text[look] += text
            self._all[look] += block.plain + block.linked

    def _around(self, node: LexborNode) -> dict[_Look, LexborNode] | None:
        """The outermost element of each look around a node; None within a dialog."""
        missing: list[LexborNode] = []
        above: LexborNode | None = node
        found: dict[_Look, LexborNode] | None = {}
        while above is not None and above.tag not in ("body", "html"):
            if above.mem_id in self._known:
                found = self._known[above.mem_id]
                break
            missing.append(above)
            above = above.parent
        for inner in reversed(missing):
            found = self._known[inner.mem_id] = _with(found, inner)
        return found

    def best(self) -> _Look | None:
        """How the posts look; None if nothing looks like posts."""
        several = [look for look, nodes in self.nodes.items() if len(nodes) > 1]
        top = max(several, key=lambda look: self._text[look], default=None)
        if top is None or self._text[top] <= MIN_SHARE * self._whole:
            return None
        enough = INNER_SHARE * self._text[top]
        inner = [look for look in several if self._text[look] >= enough and self._in(look, top)]
        return min(inner, key=lambda look: self._all[look])

    def _in(self, look: _Look, outer: _Look) -> bool:
        """Whether elements of one look stand only in those of another: the answers are no part of
        the question."""
        around = self.nodes[outer]
        return all(any(n.mem_id in around for n in _upward(n)) for n in self.nodes[look].values())


def _upward(node: LexborNode) -> Iterator[LexborNode]:
    """The element and those around it."""
    above: LexborNode | None = node
    while above is not None and above.is_element_node:
        yield above
        above = above.parent


def _with(
    found: dict[_Look, LexborNode] | None, node: LexborNode
) -> dict[_Look, LexborNode] | None:
    if found is None or node.tag not in _HOLDERS:
        return found
    attributes = node.attributes
    classes = attributes.get("class") or ""
    if _DIALOG.search(f"{classes} {attributes.get('id') or ''}"):
        return None
    first = classes.split(maxsplit=1)[:1]
    if not first and node.tag != "article":
        return found
    look = (node.tag or "", _DIGITS.sub("", first[0]) if first else "")
    return found if look in found else {**found, look: node}


def without_quotations(posts: list[LexborNode]) -> Iterator[str]:
    """The HTML of each post, without what it quotes from earlier ones."""
    earlier = ""
    for post in posts:
        html = post.html or ""
        for quotation in post.css("blockquote"):
            said = key(quotation.text(deep=True))
            if len(said) >= MIN_QUOTATION and _is_in(said, earlier):
                html = html.replace(quotation.html or "", "", 1)
        earlier += key(post.text(deep=True))
        yield html


def _is_in(said: str, earlier: str) -> bool:
    return said[-QUOTATION_SAMPLE:] in earlier or said[:QUOTATION_SAMPLE] in earlier

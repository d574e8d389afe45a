"""Finds the prose that is of other pages: it stands below headings that lead to them.

Blogs print the summaries of their posts on the lists of a tag or a month, or the posts as a whole.
Such a list of one or two looks like an article in all but this: its headings lead elsewhere. The
heading of an article leads nowhere, or to the article itself.
"""

from collections.abc import Iterator
from itertools import islice
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from weft.boards.reading.blocks import Block
from weft.boards.reading.page import Page, blocks_of, clean, find_own_addresses

_HEADINGS = frozenset(("h1", "h2", "h3", "h4"))
#: Shorter headings are names: of who wrote a post or a comment.
SHORTEST_HEADING = 10
#: A link around a heading, or one that lies over its card, is at most so many elements above it.
CARD_HEIGHT = 3
#: And has at most so many elements beside each other.
CARD_WIDTH = 10


def find_teasers(page: Page) -> set[int]:
    """The numbers of the blocks of prose that stand below such headings."""
    own = [url for href in (page.url, *find_own_addresses(page)) if (url := page.absolute(href))]
    found = set()
    leads_elsewhere = False
    for block in blocks_of(page).all:
        if block.node.tag in _HEADINGS:
            leads_elsewhere = _leads_elsewhere(page, block, own)
        elif leads_elsewhere and block.prose:
            found.add(block.number)
    return found


def _leads_elsewhere(page: Page, heading: Block, own: list[str]) -> bool:
    """To another page of the site."""
    if heading.plain + heading.linked < SHORTEST_HEADING:
        return False
    href = _href_within(heading) or _href_around(heading.node)
    # A place in a page is that of a post of a thread.
    url = page.absolute(href) if href and "#" not in href else None
    return url is not None and all(_is_other(url, mine) for mine in own)


def _href_within(heading: Block) -> str | None:
    if heading.linked <= heading.plain:
        return None
    anchor = heading.node.css_first("a[href]")
    return anchor.attributes.get("href") if anchor else None


def _href_around(heading: LexborNode) -> str | None:
    """Of a link around a heading, or of an empty one over its card that says the same."""
    text = clean(heading.text(deep=True))
    for above in _above(heading):
        if above.tag == "a":
            return above.attributes.get("href")
        for beside in islice(above.iter(), CARD_WIDTH):
            if beside.tag == "a" and text in (beside.attributes.get("aria-label") or ""):
                return beside.attributes.get("href")
    return None


def _above(node: LexborNode) -> Iterator[LexborNode]:
    above = node.parent
    for _ in range(CARD_HEIGHT):
        if above is None or above.tag in ("body", "main"):
            return
        yield above
        above = above.parent


def _is_other(url: str, own: str) -> bool:
    """Whether it is another page of the same site; parameters may be of no account."""
    one, other = urlsplit(url), urlsplit(own)
    if one.netloc.removeprefix("www.") != other.netloc.removeprefix("www."):
        return False
    is_same_path = one.path.rstrip("/") == other.path.rstrip("/")
    return not is_same_path or bool(one.query and other.query and one.query != other.query)

"""Takes the article out of a page with trafilatura."""

import re
from collections import Counter
from collections.abc import Iterable

from lxml.etree import (  # type: ignore[import-untyped]
    ElementDefaultClassLookup,
    XPath,
    strip_elements,
)
from lxml.html import (  # type: ignore[import-untyped]
    HtmlElement,
    HTMLParser,
    document_fromstring,
)
from trafilatura.core import bare_extraction
from trafilatura.settings import Document, Extractor

from weft.boards.reading.article.hush import hushed
from weft.boards.reading.article.markdown import Line, read_lines
from weft.boards.reading.article.texts import key
from weft.boards.reading.blocks import weight
from weft.boards.reading.page import Page, blocks_of

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
#: A page with a larger share of CJK characters, markup included, is in such a language.
CJK_SHARE = 0.004
#: So many characters of a page are looked at for that.
SAMPLE = 20_000
#: Characters up to which trafilatura takes a Chinese article for too short, and searches the rest
#: of the page. It takes 250, which is a lot in Chinese.
SHORT_CJK = 50
#: A text with a smaller share of the prose of the best container is too short, too.
MIN_PROSE = 0.5
#: A value that trafilatura does not know: it then does not search for more where it has a text.
_NO_ESCALATION = "plain"
#: Elements within a line. Trafilatura removes their tags, and asks lxml for the texts that remain:
#: that takes the square of their number in one element, in one call that nothing can interrupt.
_INLINE = (
    "a", "abbr", "b", "big", "cite", "em", "font", "i", "img", "ins", "kbd", "mark", "samp",
    "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
)  # fmt: skip
#: Up to this sum of squares it is a matter of milliseconds.
MAX_SQUARES = 10_000_000
# The usual one chooses a class for each tag, in Python, whenever an element is looked at.
_ONE_CLASS = ElementDefaultClassLookup(element=HtmlElement)
_NUMBER = XPath("count(//*)")
#: Attributes that say something about a text; others are names, which trafilatura goes by.
_KEPT = frozenset(("href", "src", "colspan", "rowspan"))


def read_prose(page: Page) -> list[Line]:
    """The lines of the article of a page; none if there is none."""
    tree = _parse(page.text)
    _tidy_headings(tree)
    if not _is_cjk(page.text):
        return _extract(tree, _options(page))
    options = _options(page, precision=True)
    options.min_extracted_size = SHORT_CJK
    lines = _extract(tree, options)
    if _is_too_short(lines, page):
        options = _options(page)
        options.min_extracted_size = SHORT_CJK
        options.focus = _NO_ESCALATION
        lines = max(lines, _extract(tree, options), key=_weight)
    return lines


def read_posts(posts: Iterable[str]) -> list[Line]:
    """The lines of the posts of a thread, from their HTML."""
    parts = "".join(f"<div>{post}</div>" for post in posts)
    # Trafilatura drops the last element if it is short and has short links: that must be no post.
    tree = _parse(f"<html><body><article>{parts}<hr></article></body></html>")
    for node in tree.iter():
        for name in set(node.attrib) - _KEPT:
            del node.attrib[name]
    return _extract(tree, Extractor(output_format="python", comments=False, fast=True))


def _tidy_headings(tree: HtmlElement) -> None:
    """Links of headings to themselves make trafilatura take them for menus; those that are mere
    signs go."""
    for heading in tree.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        for link in list(heading.iter("a")):
            if (link.get("href") or "#").startswith("#"):
                if key(link.text_content()):
                    link.drop_tag()
                else:
                    link.drop_tree()


def _parse(text: str) -> HtmlElement:
    parser = HTMLParser(collect_ids=False, encoding="utf-8", remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(_ONE_CLASS)
    tree = document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    # Trafilatura copies the tree several times. Of scripts it reads only JSON-LD.
    for script in tree.iter("script"):
        if script.get("type") != "application/ld+json":
            script.tag = "style"
    strip_elements(tree, "style", "link", "meta", with_tail=False)
    return tree


def _options(page: Page, *, precision: bool = False) -> Extractor:
    return Extractor(
        output_format="python", comments=False, precision=precision, url=page.url or None
    )


def _extract(tree: HtmlElement, options: Extractor) -> list[Line]:
    if _is_costly(tree):
        return []
    found = hushed(lambda: bare_extraction(tree, options=options))
    return read_lines(found.body) if isinstance(found, Document) else []


def _is_costly(tree: HtmlElement) -> bool:
    if _NUMBER(tree) ** 2 <= MAX_SQUARES:
        return False
    counts = Counter(node.getparent() for node in tree.iter(*_INLINE))
    return sum(count * count for count in counts.values()) > MAX_SQUARES


def _is_cjk(text: str) -> bool:
    if text.isascii():
        return False
    sample = text[:: max(1, len(text) // SAMPLE)]
    return len(_CJK.findall(sample)) > CJK_SHARE * len(sample)


def _is_too_short(lines: list[Line], page: Page) -> bool:
    containers = blocks_of(page).containers
    return bool(containers) and _weight(lines) < MIN_PROSE * containers[0][0]


def _weight(lines: list[Line]) -> float:
    return sum(weight(line.text) for line in lines)

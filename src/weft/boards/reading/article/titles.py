"""Finds the title of an article, without the names of its site and section.

A page gives its title several times: as a heading, in Open Graph and Twitter tags, in JSON-LD, in
its title tag. Some of them are shortened, written for search engines, or carry the name of the
site. So every source is freed from such names first; then the sources vote.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.linked import find_article, first_text
from weft.boards.reading.article.sitenames import SiteNames, find_site_names
from weft.boards.reading.article.texts import key
from weft.boards.reading.article.titlelines import TitleLines
from weft.boards.reading.article.titleparts import beginnings, endings, strip_names
from weft.boards.reading.page import Page, clean, find_title_tag

#: Placeholders of templates that were not filled in.
_TEMPLATE = re.compile(r"\{\{|\}\}|<%|\$\{")
#: Marks that documentation puts behind headings to link to them.
_MARKS = " ¶#§🔗"
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
#: Headings after these are of the text, not of the page.
MAX_HEADINGS = 20

#: How much a source counts. The heading is what readers see, and nobody shortens it; it loses
#: only if all others agree on another title.
_WEIGHTS = {"heading": 2.0, "linked": 1.2, "og": 0.8, "twitter": 0.3, "title": 0.7}
#: A heading that has less in common with all other titles may be of anything.
MIN_LIKENESS = 0.15


class TitleSource(NamedTuple):
    name: str
    text: str


def find_title(page: Page) -> str:
    """The title of the page's article; empty if the page has none."""
    names = page.once(find_site_names)
    tags = _tags(page)
    headings = _headings(page)
    names = names.extended(_sites_shown(headings, tags, names))
    lines = TitleLines(page)
    site = lines.site_of(find_title_tag(page))
    if site and all(key(text) == key(site) for text in headings):
        names = names.extended([site])
    heading = _best_heading(headings, tags, names)
    if heading:
        return _elect(_stripped([TitleSource("heading", heading), *tags], names))
    title = _elect(_stripped(tags, names))
    if lines.has(title):
        return title
    return _shown_part(lines, title) or _beside_day(lines, title) or title


def _shown_part(lines: TitleLines, title: str) -> str:
    """The beginning of a title that has a line of its own; names behind it are shorter."""
    longest = next((text for text in beginnings(title) if lines.has(text)), "")
    return longest if 2 * len(key(longest)) > len(key(title)) else ""


def _beside_day(lines: TitleLines, title: str) -> str:
    """The line beside the day, if the tags have only the name of the site or of a section."""
    found = lines.beside_day
    is_other = len(found) > len(title) and likeness(found, [title]) < MIN_LIKENESS
    return found if is_other else ""


def _tags(page: Page) -> list[TitleSource]:
    article = find_article(page)
    found = [
        TitleSource("linked", first_text(article.get("headline") or article.get("name"))),
        TitleSource("og", page.meta("og:title")),
        TitleSource("twitter", page.meta("twitter:title")),
        TitleSource("title", find_title_tag(page)),
    ]
    return [source for source in found if _is_usable(source.text)]


def _is_usable(text: str) -> bool:
    return bool(key(text)) and not _TEMPLATE.search(text)


def _headings(page: Page) -> list[str]:
    nodes = page.tree.css("h1")[:MAX_HEADINGS]
    return [text for node in nodes if (text := _heading_text(node))]


def _heading_text(node: LexborNode) -> str:
    """What a heading says, without the buttons and styles in it."""
    text = clean(node.text(deep=True))
    for extra in node.css("button, style, script"):
        text = text.replace(clean(extra.text(deep=True)), " ")
    return clean(text).strip(_MARKS) if _is_usable(text) else ""


def _sites_shown(
    headings: Sequence[str], tags: Sequence[TitleSource], names: SiteNames
) -> Iterable[str]:
    """The headings that the title tag ends with, if it is not "Site | Title": names of the site."""
    title = next((tag.text for tag in tags if tag.name == "title"), "")
    if any(names.is_name(text) for text in beginnings(title)):
        return ()
    whole = {key(tag.text) for tag in tags if tag.name != "title"}
    ends = {key(text) for text in endings(title)} - whole
    return [text for text in headings if key(text) in ends]


def _best_heading(headings: Sequence[str], tags: Sequence[TitleSource], names: SiteNames) -> str:
    """The heading that is most like the other titles; the first one of equals."""
    others = [tag.text for tag in tags]
    usable = [text for text in headings if not names.is_name(text)]
    best = max(usable, key=lambda text: likeness(text, others), default="")
    return best if not tags or likeness(best, others) >= MIN_LIKENESS else ""


def likeness(text: str, others: Iterable[str]) -> float:
    """The best share of common words with one of the others, 0 to 1."""
    mine = _words(text)
    shares = (len(mine & theirs) / len(mine | theirs) for theirs in map(_words, others) if theirs)
    return max(shares, default=0.0) if mine else 0.0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _stripped(sources: Sequence[TitleSource], names: SiteNames) -> list[TitleSource]:
    """The sources without names. What another source begins with has none to lose."""
    begun = {key(text) for source in sources for text in beginnings(source.text)}
    confirmed = {key(source.text) for source in sources}
    return [
        TitleSource(name, text if key(text) in begun else strip_names(text, confirmed, names))
        for name, text in sources
    ]


def _elect(sources: Sequence[TitleSource]) -> str:
    votes: dict[str, float] = {}
    for name, text in sources:
        votes[key(text)] = votes.get(key(text), 0.0) + _WEIGHTS[name]
    best = max(votes, key=lambda text: votes[text], default="")
    return next((text for _, text in sources if key(text) == best), "")

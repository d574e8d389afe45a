"""The topic links of a page: those that lead from a list to what is listed.

Links at the same place of a page are of one kind. So the links are grouped by the elements above
them, and each group gets a score: many links, long texts, URLs of one shape within the site, no
menu, no sentences around them. The best group makes the list. Others join it if they come near to
it; not if they only accompany its links, as the author and the tags of each article do.
"""

import re
from collections import Counter
from itertools import pairwise
from math import pow
from typing import NamedTuple

import msgspec

from weft.boards.reading.page import Page, PageLink, clean
from weft.boards.reading.shapes import CONTENT, NAMED_FRAME, Place, Places, find_cards, shape_of

#: What a link is worth by its frame (none, by name, by tag): lists stand in frames only by mistake.
FRAME_FACTORS = (1.0, 0.25, 0.05)
#: Longer texts than this say no more: they are cards with summaries.
LONG_TEXT = 60.0
#: A CJK character says as much as so many letters.
CJK_LETTERS = 2.5
#: A menu of 500 links must not beat a list of 30; a list of 30 must beat a promotion of 3.
COUNT_POWER = 0.75
LENGTH_POWER = 1.3
FEW_LINKS = 2
#: What remains of the score of links that leave the site, differ in shape, come again and again.
OFF_SITE = 0.2
OFF_SHAPE = 0.6
REPEATED = 0.3
#: And of links within sentences.
IN_PROSE = 0.1
#: Share of the best score that a group needs, if its URLs look like those of the best group or not.
ENOUGH_ALIKE = 0.03
ENOUGH_OTHER = 0.2
#: So many of its URLs must look like them.
ALIKE = 0.7
#: Its texts must not be much shorter than those of the best group.
SHORTER = 0.6
#: Smaller groups of another shape are promotions.
SMALLEST_OTHER = 3
#: So many links of a group are looked at to know what is around them.
SAMPLE = 4
#: Groups with less than this share of the best score are not looked at.
HOPELESS = 0.01
#: Titles are shorter; longer texts are whole cards.
LONGEST_TITLE = 160
#: The heading of a card is at most so many elements above an empty link.
CARD_HEIGHT = 4

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADING_TAGS = frozenset(_HEADINGS.split(", "))
_INLINE = frozenset({"b", "em", "font", "i", "mark", "small", "span", "strong", "sup", "u"})


class Link(NamedTuple):
    url: str
    #: The best of the texts that links to this URL have.
    text: str


class Group(NamedTuple):
    """Links that were chosen together."""

    #: High for lists: some hundreds and more; low for the few links around an article.
    score: float
    #: How many different URLs it has.
    size: int
    #: Letters of the average text; long texts count as 60, a CJK character as 2.5 letters.
    length: float
    #: Why it was chosen.
    reason: str


class Topics(NamedTuple):
    #: One for each URL, in the order of the page.
    links: list[Link]
    #: The best first.
    groups: list[Group]
    #: The share that the texts of the topic links have of the texts of all links.
    share: float
    #: All links of the best group, in the order of the page.
    best: list[PageLink]
    #: The `mem_id` of each element that holds one topic link, and what is said about it.
    cards: frozenset[int]

    @property
    def score(self) -> float:
        """Of the best group; 0 if there is none."""
        return self.groups[0].score if self.groups else 0.0

    @property
    def size(self) -> int:
        """How many links the best group has."""
        return self.groups[0].size if self.groups else 0


class _Anchor(msgspec.Struct, frozen=True, eq=False, gc=False):
    link: PageLink
    place: Place


class _Candidate:
    """The links at one kind of place."""

    def __init__(self, anchors: list[_Anchor], weights: dict[str, float], host: str) -> None:
        self.anchors = anchors
        self.urls = list(dict.fromkeys([anchor.link.url for anchor in anchors]))
        self.frame = min([anchor.place.frame for anchor in anchors])
        self.length = sum([weights[url] for url in self.urls]) / len(self.urls)
        self.shapes = Counter([shape_of(url) for url in self.urls])
        self.likeness = max(self.shapes.values()) / len(self.urls)
        inside = sum([n for shape, n in self.shapes.items() if shape.startswith(host)])
        self.inside = inside / len(self.urls)
        self.in_prose = False
        self.score = self._score()

    def _score(self) -> float:
        count = len(self.urls)
        size = pow(count, COUNT_POWER) * pow(self.length, LENGTH_POWER)
        return (
            size
            * count
            / (count + FEW_LINKS)
            * FRAME_FACTORS[self.frame]
            * _between(REPEATED, count / self._runs())
            * _between(OFF_SITE, self.inside)
            * _between(OFF_SHAPE, self.likeness)
        )

    def _runs(self) -> int:
        """How often the URL changes from link to link: image and title of a card are one."""
        urls = [anchor.link.url for anchor in self.anchors]
        return 1 + sum([one != other for one, other in pairwise(urls)])

    def look_around(self) -> None:
        """Lower the score of links within sentences."""
        sample = self.anchors[:: max(1, len(self.anchors) // SAMPLE)]
        self.in_prose = 2 * sum(map(_is_in_prose, sample)) > len(sample)
        if self.in_prose:
            self.score *= IN_PROSE

    def cards(self) -> set[Place]:
        """The elements around each of its links; few links do not show where a card ends."""
        if len(self.urls) < SMALLEST_OTHER:
            return set()
        return find_cards([(anchor.link.url, anchor.place) for anchor in self.anchors])

    def explain(self) -> Group:
        reason = f"{len(self.urls)} links at one kind of place, {self.length:.0f} letters long"
        reason += (
            f" on average, {self.likeness:.0%} of one shape, {self.inside:.0%} within the site"
        )
        if self.frame != CONTENT:
            reason += ", though in a menu, header or footer"
        if self.in_prose:
            reason += ", though within sentences"
        return Group(self.score, len(self.urls), self.length, reason)


def find_topics(page: Page) -> Topics:
    """The links of a list page that lead to what it lists. Other pages have some, too, but with a
    low score."""
    anchors = _anchors(page)
    texts = _texts(anchors)
    weights = {url: _weight(text) for url, text in texts.items()}
    chosen, cards = _choose(_candidates(anchors, weights, _host(page.url)))
    urls = {url for candidate in chosen for url in candidate.urls if weights[url]}
    total = sum(weights.values())
    return Topics(
        [Link(url, text) for url, text in texts.items() if url in urls],
        [candidate.explain() for candidate in chosen],
        sum([weights[url] for url in urls]) / total if total else 0.0,
        [anchor.link for anchor in chosen[0].anchors] if chosen else [],
        frozenset([card.key for card in cards]),
    )


def _anchors(page: Page) -> list[_Anchor]:
    """The links to other pages, with their places. The front page of the site is no topic."""
    others = {page.absolute(page.url), page.absolute("/")}
    places = Places()
    anchors = [
        _Anchor(link, places.of(link.node, link.attributes))
        for link in page.links
        if link.url not in others
    ]
    places.settle()
    return anchors


def _candidates(anchors: list[_Anchor], weights: dict[str, float], host: str) -> list[_Candidate]:
    """The groups of links, best first."""
    by_path: dict[tuple[str, ...], list[_Anchor]] = {}
    for anchor in anchors:
        by_path.setdefault(anchor.place.path, []).append(anchor)
    found = [_Candidate(group, weights, host) for group in by_path.values()]
    best = max((candidate.score for candidate in found), default=0.0)
    found = [candidate for candidate in found if candidate.score > HOPELESS * best]
    for candidate in found:
        candidate.look_around()
    return sorted(found, key=lambda candidate: -candidate.score)


def _choose(candidates: list[_Candidate]) -> tuple[list[_Candidate], set[Place]]:
    """The best group and those that belong to it, with the cards around their links."""
    if not candidates:
        return [], set()
    best = candidates[0]
    chosen = [best]
    cards = best.cards()
    for candidate in candidates[1:]:
        if _belongs(candidate, best) and not _accompanies(candidate, cards):
            chosen.append(candidate)
            cards |= candidate.cards()
    return chosen, cards


def _belongs(candidate: _Candidate, best: _Candidate) -> bool:
    if candidate.length < SHORTER * best.length:
        return False
    if candidate.frame > max(best.frame, NAMED_FRAME):
        return False
    alike = sum([n for shape, n in candidate.shapes.items() if shape in best.shapes])
    if alike >= ALIKE * len(candidate.urls):
        return candidate.score >= ENOUGH_ALIKE * best.score
    if candidate.frame > best.frame:
        return False
    return len(candidate.urls) >= SMALLEST_OTHER and candidate.score >= ENOUGH_OTHER * best.score


def _accompanies(candidate: _Candidate, cards: set[Place]) -> bool:
    """Most of its links stand beside a better one in the same card."""
    inside = [not cards.isdisjoint(anchor.place.upward()) for anchor in candidate.anchors]
    return 2 * sum(inside) > len(inside)


def _is_in_prose(anchor: _Anchor) -> bool:
    """There is more text right around the link than in it."""
    around = 0
    node = anchor.link.node.parent
    while node is not None and node.is_element_node:
        around += len(node.text(deep=False).strip())
        if node.tag not in _INLINE:
            break
        node = node.parent
    return around > len(anchor.link.text)


def _texts(anchors: list[_Anchor]) -> dict[str, str]:
    """The best text for each URL, in the order of the page."""
    best: dict[str, tuple[int, PageLink]] = {}
    for anchor in anchors:
        rank = _rank(anchor)
        known = best.get(anchor.link.url)
        if known is None or rank > known[0]:
            best[anchor.link.url] = rank, anchor.link
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for url, (rank, link) in best.items():
        texts[url] = link.text if rank > 0 else _card_text(link, seen)
    return texts


def _rank(anchor: _Anchor) -> int:
    """How good the text of a link is as a title; 0 for none."""
    text = anchor.link.text
    if len(text) > LONGEST_TITLE or not (text[:1].isalpha() or _LETTER.search(text)):
        return 0
    parent = anchor.place.parent
    is_heading = parent is not None and parent.tag in _HEADING_TAGS
    return len(text) + LONGEST_TITLE * is_heading


def _card_text(link: PageLink, seen: set[str]) -> str:
    """The heading in a link that is a whole card, or of the card that an empty link lies over."""
    node = link.node
    for _ in range(CARD_HEIGHT):
        heading = node.css_first(_HEADINGS)
        if heading is not None and (text := clean(heading.text(deep=True))):
            # Icons below one heading are no cards.
            fresh = text not in seen
            seen.add(text)
            return text if fresh or link.text else ""
        if link.text or node.parent is None or not node.parent.is_element_node:
            break
        node = node.parent
    return link.text[:LONGEST_TITLE] if _LETTER.search(link.text) else ""


def _weight(text: str) -> float:
    letters = float(len(text))
    if not text.isascii():
        letters += (CJK_LETTERS - 1) * len(_CJK.findall(text))
    return min(letters, LONG_TEXT)


def _host(url: str) -> str:
    return url.partition("//")[2].partition("/")[0] + "/"


def _between(least: float, share: float) -> float:
    return least + (1 - least) * share

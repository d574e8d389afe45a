"""How a crawl came to a page, and what that says about its kind.

Lists lead to articles by topic links, and to other lists by menus, tags and pagers. So a page that
mostly topic links lead to is an article, whatever it looks like. That decides where content cannot:
an archive that prints whole posts looks like an article.
"""

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import msgspec

#: Of the links that lead to an article about so many are topic links: others stand in sidebars.
USUAL_SHARE = 0.3
#: What is usual counts as so many links or pages, so that the first few do not decide.
DOUBT = 4.0
LINKS_WEIGHT = 1.6
#: More links say no more: a menu leads from every page to the same few.
ENOUGH_LINKS = 8
#: Pages of one shape are mostly of one kind. But other pages were judged by content, too, and may
#: all be wrong, so that counts only so much; and less where a shape has both kinds.
ALIKE_WEIGHT = 2.0
MOST_ALIKE = 4.5
#: What it says against an article that the page is an entry or a next page.
FOLLOWED = -2.0


class Provenance(msgspec.Struct, frozen=True):
    """How a crawl came to a page: what it knows besides the page itself."""

    #: How many links led here so far. A page counts once, however often it links here.
    links: int = 0
    #: How many of those were topic links, of pages that pass as having some.
    topic_links: int = 0
    #: An entry, or reached by a next-page link: its links are always followed.
    is_followed: bool = False
    #: Pages with addresses like this one judged before: articles and lists.
    articles_alike: int = 0
    lists_alike: int = 0

    @property
    def shape_trust(self) -> float:
        """How much the shape of an address says of a page: 1 where all pages of this shape are of
        one kind, little where articles and lists share it."""
        difference = abs(self.articles_alike - self.lists_alike)
        return (difference + DOUBT) / (self.articles_alike + self.lists_alike + DOUBT)


class Signal(NamedTuple):
    """Something that speaks for an article, or against it if its points are negative."""

    points: float
    reason: str


def signals_of_way(provenance: Provenance) -> Iterator[Signal]:
    """What the way to a page says about it."""
    if provenance.links > 0:
        topic = min(provenance.topic_links, provenance.links)
        counted = min(1.0, ENOUGH_LINKS / provenance.links)
        others = provenance.links - topic
        yield Signal(
            LINKS_WEIGHT * _odds(counted * topic, counted * others, USUAL_SHARE),
            f"{topic:,} of {provenance.links:,} links that lead here are topic links",
        )
    if provenance.is_followed:
        yield Signal(FOLLOWED, "it is an entry or the next page of a list")


def signals_of_alike(provenance: Provenance) -> Iterator[Signal]:
    """What the pages with addresses like this one say about it."""
    articles, lists = provenance.articles_alike, provenance.lists_alike
    if articles + lists > 0:
        points = ALIKE_WEIGHT * provenance.shape_trust * _odds(articles, lists, 0.5)
        yield Signal(
            max(-MOST_ALIKE, min(MOST_ALIKE, points)),
            f"{articles:,} of {articles + lists:,} pages with addresses of this shape are articles",
        )


def _odds(hits: float, misses: float, usual: float) -> float:
    """How much better the odds of a hit are than usual, as a logarithm; 0 without any."""
    usual_odds = usual / (1 - usual)
    return log((hits + DOUBT * usual) / (misses + DOUBT * (1 - usual)) / usual_odds)

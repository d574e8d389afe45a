"""Judges a page: is it an article, and has it topic links?

These are two questions, because a page may be both, or neither. Each has a score. It is a sum of
signals, as in a logistic model: each signal adds to the odds, or takes from them. So each can be
told as a reason. What a body extractor returns says nothing: it finds text in most lists, too.

The weights were fitted on labelled pages of many sites and rounded.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import exp, log

import msgspec

from weft.boards.reading.evidence import UNKNOWN_URL, Evidence, gather
from weft.boards.reading.page import Page
from weft.boards.reading.pager import find_next
from weft.boards.reading.provenance import (
    Provenance,
    Signal,
    signals_of_alike,
    signals_of_way,
)
from weft.boards.reading.topics import Topics, find_topics
from weft.records import PageKind

__all__ = ["Judgement", "Provenance", "Verdict", "judge"]

ARTICLE_BIAS = 0.25
TOPICS_BIAS = 0.5
#: What the odds of being no article count for having topic links.
LISTS_SHARE = 0.6
#: Stronger than everything else together.
ALWAYS = 30.0
#: Paths with more signs between words are slugs of titles.
USUAL_HYPHENS = 2
#: Letters: a page with so little prose of its own may show that of others.
LITTLE_PROSE = 150
#: Weaker signals are no reasons.
WORTH_TELLING = 0.3
#: Keeps `exp` within its range.
MAX_ODDS = 30.0


class Verdict(msgspec.Struct, frozen=True):
    #: 0 to 1; 0.5 or more passes.
    score: float
    #: In words: those for the verdict first, then those against it, each with the strongest first.
    reasons: tuple[str, ...]

    @property
    def passes(self) -> bool:
        return self.score >= 0.5


class Judgement(msgspec.Struct, frozen=True):
    """What a page is. One that passes both verdicts is extracted, and its links are followed."""

    #: Is it an article, or another page about one thing: a product, a thread, documentation.
    article: Verdict
    #: Has it topic links.
    topics: Verdict
    #: Whether it passes as an article without what pages like it are. So a page votes for what
    #: further ones are: else the first votes would make those that follow.
    is_article_alone: bool

    @property
    def kind(self) -> PageKind:
        """The one label where somebody needs one."""
        return PageKind.DATA if self.article.passes else PageKind.NAV


def judge(
    page: Page,
    topics: Topics,
    next_urls: Sequence[str] = (),
    provenance: Provenance = Provenance(),  # noqa: B008 - it is frozen
) -> Judgement:
    """Judge a page by what it shows, and by how a crawl came to it.

    `topics`, `next_urls`: what `find_topics` and `find_next` found on it.
    """
    if not page.base_url:
        # Its relative links have no address, so it would seem to have none.
        page = Page(page.text, UNKNOWN_URL)
        topics, next_urls = find_topics(page), find_next(page)
    evidence = gather(page, topics, next_urls)
    own = [*_content_signals(evidence, provenance.shape_trust), *signals_of_way(provenance)]
    signals = [*own, *signals_of_alike(provenance)]
    odds = _odds(signals)
    return Judgement(
        _verdict(signals, ARTICLE_BIAS),
        _topics_verdict(topics, evidence, odds, provenance),
        is_article_alone=_odds(own) >= 0,
    )


def _odds(signals: Iterable[Signal]) -> float:
    """That it is an article."""
    return ARTICLE_BIAS + sum([signal.points for signal in signals])


def _content_signals(seen: Evidence, trust: float) -> Iterator[Signal]:
    """What the page itself says. Each measure adds nothing where articles and lists are as likely
    to have it. `trust`: how much the shape of an address says on this site."""
    yield Signal(
        0.4 * log((seen.prose + 50) / 800) + 2.5 * (seen.share - 0.25),
        f"{seen.prose:,.0f} letters of prose in one container, {seen.share:.0%} of the text"
        if seen.prose
        else "no prose of its own",
    )
    if seen.prose < LITTLE_PROSE and seen.prose < seen.foreign:
        yield Signal(-1.5, "what prose it shows is that of other pages")
    yield Signal(
        -log((seen.links + 50) / 350),
        f"a list of {seen.size:,} links" if seen.size else "no list of links",
    )
    yield Signal(0.045 * (seen.title - 35), f"a title of {seen.title:.0f} letters")
    yield Signal(1.3 * (seen.before - 0.5), f"{seen.before:.0%} of its prose stands above the list")
    yield Signal(
        trust * 1.3 * seen.siblings, f"{seen.siblings:.0%} of the list leads to pages beside it"
    )
    if seen.has_url:
        yield from _address_signals(seen, trust)
    if seen.has_day:
        yield Signal(1.2, "it shows a day")
    if seen.has_sections:
        yield Signal(1.2, "it has a table of its sections")
    if seen.is_declared:
        yield Signal(2.5, "it declares itself to be an article")
    if seen.is_thing:
        yield Signal(2.8, "it declares itself to be about one thing")
    if seen.has_next:
        yield Signal(-1.6, "it has a next page")


def _address_signals(seen: Evidence, trust: float) -> Iterator[Signal]:
    """What its address says."""
    if seen.is_front:
        yield Signal(-1.0, "it is a front page")
    if seen.is_collection:
        yield Signal(-3.5, "its address is that of a tag, a category, an author or an archive")
    if seen.is_about_site:
        yield Signal(-3.0, "its address is that of a page about the site")
    if seen.is_dated:
        yield Signal(1.2, "a day in its address")
    is_slug = seen.hyphens > USUAL_HYPHENS
    yield Signal(
        trust * 0.55 * (seen.hyphens - USUAL_HYPHENS),
        "a title in its address" if is_slug else "no title in its address",
    )
    yield Signal(
        trust * (0.9 if seen.has_identifier else -0.9),
        "an identifier in its address" if seen.has_identifier else "no identifier in its address",
    )


def _topics_verdict(topics: Topics, seen: Evidence, odds: float, provenance: Provenance) -> Verdict:
    """Whether its links are to be followed. That costs little, and not to follow them may cost a
    part of the site; so it must be surely an article to fail."""
    if not topics.links:
        return Verdict(0.0, ("no topic links",))
    best = topics.groups[0]
    signals = [
        Signal(-LISTS_SHARE * odds, "it looks like an article" if odds > 0 else "it is no article"),
        Signal(0.5 * log((best.score + 50) / 150), best.reason),
    ]
    if seen.has_next and odds <= 0:  # articles come in several pages, too
        signals.append(Signal(1.0, "it has a next page"))
    if provenance.is_followed:
        signals.append(Signal(ALWAYS, "it is an entry or the next page of a list"))
    return _verdict(signals, TOPICS_BIAS)


def _verdict(signals: Iterable[Signal], bias: float) -> Verdict:
    odds = bias + sum([signal.points for signal in signals])
    return Verdict(1 / (1 + exp(-max(-MAX_ODDS, min(MAX_ODDS, odds)))), _reasons(signals, odds))


def _reasons(signals: Iterable[Signal], odds: float) -> tuple[str, ...]:
    told = [signal for signal in signals if abs(signal.points) >= WORTH_TELLING]
    told.sort(key=lambda signal: -abs(signal.points))
    agree = [signal.reason for signal in told if (signal.points > 0) == (odds >= 0)]
    differ = ["but " + signal.reason for signal in told if (signal.points > 0) != (odds >= 0)]
    return (*agree, *differ)

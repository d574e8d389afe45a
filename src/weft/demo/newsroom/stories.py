"""Every story of the three papers, and what is right about it: the ground truth of the site.

A story is put together from a seed and from paragraphs of the pools of its section, so that no two
stories have more than a paragraph or two in common. Only what the digest reprints is nearly the
same as another story: it has a headline and a first paragraph of its own.
"""

# ruff: noqa: RUF001 - Chinese punctuation is meant

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

from weft.demo.newsroom.papers import COURIER, DIGEST, PAPERS, Paper, Section
from weft.demo.newsroom.reports import make_report
from weft.demo.newsroom.seeds import Seed, pool, reprints, seeds

NEWEST = date(2025, 9, 30)
#: The stories of each edition appear on a day of their own after it.
EDITIONS_FROM = NEWEST
LONGEST_SLUG = 60
#: Every n-th story has two authors.
PAIRS_EVERY = 7


class PaperStory(NamedTuple):
    """A story, as its page shows it."""

    paper: str
    section: str
    #: Its canonical path on the site of its paper.
    path: str
    title: str
    authors: tuple[str, ...]
    #: When it was published. `published` is what the page shows of it, in ISO form.
    moment: datetime
    published: str
    language: str
    #: A line for each paragraph.
    body: str
    description: str
    tags: tuple[str, ...]
    #: The path of its main picture; empty if it has none.
    image: str
    #: The edition from which on it is there.
    edition: int
    #: Plain HTML says nothing of it.
    needs_browser: bool
    #: The key of the story that this one reprints.
    duplicate_of: str | None = None

    @property
    def key(self) -> str:
        return f"{self.paper}:{self.path}"


@lru_cache
def stories(edition: int = 0) -> tuple[PaperStory, ...]:
    """All stories of an edition; newest first within each section."""
    return tuple(
        story for paper in PAPERS for section in paper.sections
        for story in section_stories(paper, section, edition)
    )  # fmt: skip


@lru_cache
def section_stories(paper: Paper, section: Section, edition: int) -> tuple[PaperStory, ...]:
    known = [story for story in _all_of(paper, section) if story.edition <= edition]
    return tuple(sorted(known, key=lambda story: story.moment, reverse=True))


@lru_cache
def _all_of(paper: Paper, section: Section) -> tuple[PaperStory, ...]:
    return tuple(
        _maker(paper, section)(paper, section, number) for number in range(section.stories)
    )


def _maker(paper: Paper, section: Section) -> Callable[[Paper, Section, int], PaperStory]:
    if section.markup == "report":
        return _report
    return _reprint if paper is DIGEST else _story


def edition_of(section: Section, number: int) -> int:
    return 0 if number < section.first else 1 + (number - section.first) // section.added


def _story(paper: Paper, section: Section, number: int) -> PaperStory:
    seed = seeds(section.name)[number]
    paragraphs = _paragraphs(paper, section, number, seed)
    authors = _authors(paper, section, number, seed)
    return _printed(paper, section, number, seed.headline, paragraphs, seed.tags, authors)


def _printed(
    paper: Paper,
    section: Section,
    number: int,
    headline: str,
    paragraphs: Sequence[str],
    tags: tuple[str, ...] = (),
    authors: tuple[str, ...] = (),
) -> PaperStory:
    moment = _moment(paper, section, number)
    identifier = 104_021 + 7 * number + 1_000 * paper.sections.index(section)
    slug = slug_of(headline)
    return PaperStory(
        paper=paper.name,
        section=section.name,
        path=section.path.format(slug=slug, id=identifier, day=moment),
        title=headline,
        authors=authors,
        moment=moment,
        published=_shown(section, moment),
        language=paper.language,
        body="\n".join(paragraphs),
        description=first_sentence(paragraphs[0]),
        tags=tags,
        image=f"/images/{section.name}-{identifier}.png" if section.has_images else "",
        edition=edition_of(section, number),
        needs_browser=section.markup == "app",
    )


def _moment(paper: Paper, section: Section, number: int) -> datetime:
    place = paper.sections.index(section)
    edition = edition_of(section, number)
    if edition:
        day = EDITIONS_FROM + timedelta(days=edition)
    else:
        day = NEWEST - timedelta(days=number if section.markup == "report" else 2 * number + place)
    clock = time(7 + (5 * number + 3 * place) % 12, 17 * (number + place) % 60)
    return datetime.combine(day, clock, UTC)


def _shown(section: Section, moment: datetime) -> str:
    if section.shows == "zone":
        return moment.isoformat()
    if section.shows == "clock":
        return f"{moment:%Y-%m-%dT%H:%M:00}"
    return f"{moment:%Y-%m-%d}" if section.shows == "day" else ""


def _authors(paper: Paper, section: Section, number: int, seed: Seed) -> tuple[str, ...]:
    if section.markup == "undated":
        return (seed.person,)
    first = (number + 3 * paper.sections.index(section)) % len(paper.authors)
    is_pair = number % PAIRS_EVERY == PAIRS_EVERY - 1
    return tuple(paper.authors[(first + step) % len(paper.authors)] for step in range(1 + is_pair))


def _paragraphs(paper: Paper, section: Section, number: int, seed: Seed) -> list[str]:
    if section.markup == "undated":
        return list(seed.paragraphs)
    name = "town" if section.markup == "app" else section.name
    number += 100 * (section.markup == "app")
    chosen = [_chosen(name, number, seed)]
    if any((entry.section, entry.number) == (section.name, number) for entry in reprints()):
        # It is told at length, so that its first paragraph is a small part of it.
        chosen.append(_chosen(name, number, seed, shifts=(3, 2, 1)))
    longer = [text for kind in zip(*chosen, strict=True) for text in kind]
    if paper.language.startswith("zh"):
        (scenes,) = pool("common.zh")
        longer.insert(1, scenes[(3 * number + number // 5) % len(scenes)])
    return [*seed.paragraphs, *longer]


def _chosen(
    name: str, number: int, seed: Seed, shifts: tuple[int, int, int] = (0, 0, 0)
) -> list[str]:
    """A paragraph of each kind; two stories have hardly ever two of them in common."""
    kinds = pool(name)
    row = number // len(kinds[0])
    places = map(sum, zip((number, number + row, number - row), shifts, strict=True))
    if seed.headline.isascii() or seed.role.isascii():
        who = {"who": f"{seed.person}, {seed.role}", "whom": f"{seed.person}, {seed.role},"}
    else:
        who = {"who": f"{seed.role}{seed.person}"}
    return [
        kind[place % len(kind)].format(**who) for kind, place in zip(kinds, places, strict=True)
    ]


def _reprint(paper: Paper, section: Section, number: int) -> PaperStory:
    entry = reprints()[number]
    original = _original(entry.section, entry.number)
    paragraphs = [entry.intro, *original.body.split("\n")[1:]]
    author = paper.authors[number % len(paper.authors)]
    printed = _printed(paper, section, number, entry.headline, paragraphs, authors=(author,))
    return printed._replace(duplicate_of=original.key)


def _original(section_name: str, number: int) -> PaperStory:
    return _all_of(COURIER, COURIER.section(section_name))[number]


def _report(paper: Paper, section: Section, number: int) -> PaperStory:
    headline, paragraphs = make_report(section.name, _moment(paper, section, number).date())
    return _printed(paper, section, number, headline, paragraphs)


def first_sentence(text: str) -> str:
    match = re.match(r".+?(?:[.!?](?= |$)|[。！？])", text)
    return match[0] if match else text


def slug_of(text: str) -> str:
    words = re.sub("[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")
    return words[:LONGEST_SLUG].rpartition("-")[0] if len(words) > LONGEST_SLUG else words

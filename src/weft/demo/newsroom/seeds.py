"""What the stories are made of: the files in `texts`.

A seed is a story's own part: headline, the person it quotes, tags, two paragraphs. The rest of its
body comes from the pools of its section: quotations, backgrounds, outlooks.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_TEXTS = Path(__file__).parent / "texts"


class Seed(NamedTuple):
    headline: str
    #: Whom the story quotes, and what that person is.
    person: str
    role: str
    tags: tuple[str, ...]
    paragraphs: tuple[str, ...]


class PlainPage(NamedTuple):
    """A page with text that is no article."""

    name: str
    title: str
    paragraphs: tuple[str, ...]


class Reprint(NamedTuple):
    """Which story of a section is printed again, and what is new about it."""

    section: str
    number: int
    headline: str
    intro: str


@lru_cache
def seeds(name: str) -> tuple[Seed, ...]:
    return tuple(map(_seed, _blocks(name)))


def _seed(lines: list[str]) -> Seed:
    headline, about, *paragraphs = lines
    who, _, tags = about.removeprefix("@ ").partition(" # ")
    person, _, role = who.partition(", ")
    return Seed(headline, person, role, tuple(tags.split(", ")), tuple(paragraphs))


@lru_cache
def pool(name: str) -> tuple[tuple[str, ...], ...]:
    """Kinds of paragraphs, each with several to choose from."""
    return tuple(map(tuple, _blocks(f"{name}.pool")))


@lru_cache
def plain_pages(paper: str) -> tuple[PlainPage, ...]:
    return tuple(map(_plain_page, _blocks(f"pages.{paper}")))


def _plain_page(lines: list[str]) -> PlainPage:
    name, _, title = lines[0].removeprefix("# ").partition(" | ")
    return PlainPage(name, title, tuple(lines[1:]))


@lru_cache
def reprints() -> tuple[Reprint, ...]:
    return tuple(map(_reprint, _blocks("reprints")))


def _reprint(lines: list[str]) -> Reprint:
    section, _, number = lines[0].partition(" ")
    return Reprint(section, int(number), lines[1], lines[2])


@lru_cache
def script(name: str) -> str:
    return (_TEXTS / name).read_text("utf-8")


def _blocks(name: str) -> list[list[str]]:
    """The lines of each part of a file; parts are separated by an empty line."""
    text = (_TEXTS / f"{name}.txt").read_text("utf-8")
    return [block.split("\n") for block in text.strip().split("\n\n")]

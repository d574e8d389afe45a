"""Pairs of texts of which it is known whether they are the same story."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from bench.duplicates.changes import is_cjk, other_story, same_story
from bench.duplicates.templates import template_stories
from weft.boards.duplicates.signature import Signature, sign
from weft.boards.duplicates.words import words_of
from weft.boards.reading.article.simhash import simhash

#: Stories of each template.
STORIES = 40
#: Shorter stories leave too little when they are cut.
MIN_WORDS = 100
#: A list prints a story whole if it has so much of its shingles …
PRINTED = 0.9
#: … and hardly anything else if they have so much in common.
ALONE = 0.6
#: Shingles of more texts say nothing.
MAX_TEXTS = 400


class PageText(NamedTuple):
    """The body of a page. `kind`: what it is labelled as, `data` or `nav`."""

    site: str
    kind: str
    body: str


class SignedText(NamedTuple):
    signature: Signature
    simhash: int


class Pair(NamedTuple):
    is_same: bool
    #: What was done to the story, or where both are from.
    name: str
    site: str
    one: SignedText
    other: SignedText


def all_pairs(texts: Sequence[PageText]) -> Iterator[Pair]:
    rng = random.Random(1)
    yield from _changed(rng, texts)
    yield from _of_templates(rng)
    yield from _found(texts)


def _changed(rng: random.Random, texts: Sequence[PageText]) -> Iterator[Pair]:
    """Made from stories."""
    stories: dict[tuple[str, bool], list[str]] = defaultdict(list)
    everything: dict[bool, list[str]] = defaultdict(list)
    for text in texts:
        if text.kind == "data" and len(words_of(text.body)) >= MIN_WORDS:
            stories[text.site, is_cjk(text.body)].append(text.body)
            everything[is_cjk(text.body)].append(text.body)
    for (site, script), bodies in stories.items():
        others = bodies if len(bodies) > 9 else everything[script]
        for body in bodies:
            for name, changed in same_story(rng, body, others):
                yield _pair(True, name, site, body, changed)
            for name, one, other in other_story(rng, body, others):
                yield _pair(False, name, site, one, other)


def _of_templates(rng: random.Random) -> Iterator[Pair]:
    for name, stories in template_stories(rng, STORIES):
        for one, other in combinations(map(_signed, stories), 2):
            yield Pair(False, f"template {name}", f"template {name}", one, other)


def _found(texts: Sequence[PageText]) -> Iterator[Pair]:
    """Texts that share shingles as they are: stories of one site, and lists that print stories."""
    shingles = [_shingles(text.body) for text in texts]
    signed = [_signed(text.body) for text in texts]
    for (at, to), common in _in_common(shingles).items():
        one, other = texts[at], texts[to]
        if one.kind == other.kind == "data":
            yield Pair(False, "found: two stories", one.site, signed[at], signed[to])
        elif {one.kind, other.kind} == {"data", "nav"} and one.site == other.site:
            story, page = sorted((shingles[at], shingles[to]), key=len)
            if common >= PRINTED * len(story) and common >= ALONE * len(page):
                yield Pair(True, "found: printed on a list", one.site, signed[at], signed[to])


def _in_common(shingles: Sequence[set[int]]) -> Counter[tuple[int, int]]:
    places: dict[int, list[int]] = defaultdict(list)
    for at, own in enumerate(shingles):
        for shingle in own:
            places[shingle].append(at)
    found = Counter[tuple[int, int]]()
    for sharing in places.values():
        if len(sharing) <= MAX_TEXTS:
            found.update(combinations(sharing, 2))
    return found


def _shingles(text: str) -> set[int]:
    words = words_of(text)
    return {hash(tuple(words[at : at + 5])) for at in range(len(words) - 4)}


def _pair(is_same: bool, name: str, site: str, one: str, other: str) -> Pair:
    return Pair(is_same, name, site, _signed(one), _signed(other))


def _signed(text: str) -> SignedText:
    signature = sign(text)
    assert signature is not None
    return SignedText(signature, simhash(text))

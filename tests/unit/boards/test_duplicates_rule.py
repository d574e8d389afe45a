# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""What is remembered of articles, and which of them are the same story."""

import random
from itertools import combinations
from string import ascii_lowercase

import msgspec
import pytest

from bench.duplicates.changes import same_story
from bench.duplicates.templates import template_stories
from weft.boards.duplicates import Signature, sign
from weft.boards.duplicates.rule import DEFAULT_RULE, distance, is_duplicate
from weft.boards.duplicates.signature import BITS, MAX_SIZE, unpack_signature
from weft.demo.newsroom.stories import PaperStory, stories

LAST_EDITION = 3


def signed(body: str, title: str = "") -> Signature:
    signature = sign(body, title)
    assert signature is not None
    return signature


def text(rng: random.Random, words: int = 300) -> str:
    """Without numbers: those of two stories have to agree."""
    said = ("".join(rng.choices(ascii_lowercase, k=7)) for _ in range(words))
    return "\n".join(" ".join(line) + "." for line in zip(*[said] * 15, strict=False))


def resembling(equal: int, size: int = 300, facts: int = 0) -> Signature:
    """A signature with so many equal bits, beyond chance, as one of only zeros."""
    return Signature(size, facts, (0,) * 5, (1 << (BITS // 2 - equal)) - 1)


def test_a_signature_is_packed_into_62_bytes() -> None:
    signature = Signature(MAX_SIZE, 1 << 63 | 1, (0, 1, 2**31, 2**32 - 1, 5), 1 << 255 | 3)
    assert len(signature.pack()) == 62
    assert unpack_signature(signature.pack()) == signature


@pytest.mark.parametrize("body", ["", " \n", "…", "\u200b\u00ad"])
def test_a_text_without_words_has_no_signature(body: str) -> None:
    assert sign(body, "A title") is None


def test_typography_makes_no_difference(rng: random.Random) -> None:
    plain = text(rng) + ' "It\'s true," he said - at last'
    assert signed(plain) == signed(
        plain.upper().replace("'", "’").replace('"', "”").replace(" - ", " — ")
    )


def test_texts_without_anything_in_common_differ_in_half_of_the_bits(rng: random.Random) -> None:
    one, other = signed(text(rng)), signed(text(rng))
    assert 80 < distance(one, other) < 176
    assert not set(one.marks) & set(other.marks)
    assert not is_duplicate(one, other)


def test_an_intro_and_a_cut_leave_a_story_the_same(rng: random.Random) -> None:
    story = text(rng)
    printed = text(rng, 30) + story[: int(0.85 * len(story))]
    one, other = signed(story), signed(printed)
    assert is_duplicate(one, other)
    assert is_duplicate(other, one)
    assert set(one.marks) & set(other.marks)


def test_a_story_that_quotes_another_one_is_another_story(rng: random.Random) -> None:
    story = text(rng)
    assert not is_duplicate(signed(story), signed(text(rng) + story[: len(story) // 5]))


def test_short_texts_are_the_same_only_with_the_same_words() -> None:
    log_in = signed("You have to log in.", "One story")
    assert is_duplicate(log_in, signed("you have to log in", "One story!"))
    assert not is_duplicate(log_in, signed("You have to log in.", "Another story"))
    assert not is_duplicate(log_in, signed("You have to log on.", "One story"))
    assert log_in.size == 0


def test_a_short_text_is_never_a_long_one(rng: random.Random) -> None:
    long = signed(text(rng))
    short = msgspec.structs.replace(long, size=0)
    assert not is_duplicate(long, short)
    assert not is_duplicate(short, long)
    assert is_duplicate(short, short)


@pytest.mark.parametrize(("is_close", "least"), [(False, 49), (True, 90)])
def test_each_limit_of_resemblance_is_exact(is_close: bool, least: int) -> None:
    zeros = resembling(BITS // 2)
    # The longer the other is, the more of this one is in it.
    assert is_duplicate(zeros, resembling(least, 600), close=is_close)
    assert not is_duplicate(zeros, resembling(least - 1, 600), close=is_close)


def test_what_is_contained_is_the_same_also_if_it_is_much_shorter() -> None:
    zeros = resembling(BITS // 2)
    assert not is_duplicate(zeros, resembling(60, 300))
    assert is_duplicate(zeros, resembling(60, 600))


def test_stories_with_other_numbers_are_different() -> None:
    one = resembling(BITS // 2, facts=0b1111)
    assert is_duplicate(one, resembling(120, facts=0b1111))
    assert is_duplicate(one, resembling(120, facts=0b10111))
    assert not is_duplicate(one, resembling(120, facts=0b1111 << 8))
    # One number may be anything.
    assert is_duplicate(one, resembling(120, facts=1 << 8))


def test_very_many_numbers_are_not_alike_by_chance() -> None:
    many = (1 << 48) - 1
    assert is_duplicate(resembling(BITS // 2, facts=many), resembling(128, facts=many))
    assert not is_duplicate(resembling(BITS // 2, facts=many), resembling(128, facts=many << 16))


def test_the_rule_does_not_depend_on_who_was_first(rng: random.Random) -> None:
    for _ in range(500):
        one, other = (
            resembling(rng.randrange(40, 129), rng.randrange(900), rng.getrandbits(8))
            for _ in range(2)
        )
        assert is_duplicate(one, other) is is_duplicate(other, one)


def test_stories_made_from_one_template_are_different() -> None:
    taken = [
        is_duplicate(signed(one), signed(other))
        for _, made in template_stories(random.Random(1), 15)
        for one, other in combinations(made, 2)
    ]
    assert sum(taken) < 0.003 * len(taken)


def test_what_is_printed_with_changes_stays_the_same_story() -> None:
    rng = random.Random(1)
    bodies = [story.body for story in stories() if story.language == "en" and not is_report(story)]
    tried = [
        is_duplicate(signed(body), signed(changed))
        for body in rng.sample(bodies, 30)
        for name, changed in same_story(rng, body, bodies)
        if "35%" not in name and "60%" not in name
    ]
    assert sum(tried) > 0.95 * len(tried)


def is_report(story: PaperStory) -> bool:
    """Whether a program wrote it."""
    return story.section in ("weather", "markets")


@pytest.mark.parametrize("edition", range(LAST_EDITION + 1))
def test_exactly_what_the_newsroom_reprints_is_found(edition: int) -> None:
    """By a mark and by the rule."""
    everything = stories(edition)
    signatures = {story.key: signed(story.body, story.title) for story in everything}
    found = {
        frozenset((one, other))
        for one, mine in signatures.items()
        for other, theirs in signatures.items()
        if one < other and set(mine.marks) & set(theirs.marks) and is_duplicate(mine, theirs)
    }
    reprinted = {
        frozenset((story.key, story.duplicate_of)) for story in everything if story.duplicate_of
    }
    assert found == reprinted
    assert len(reprinted) >= 3


def test_hostile_texts_cost_little_more() -> None:
    for body in ("1 " * 500_000, "\u0300" * 500_000, "新" * 500_000, "a" * 1_000_000):
        signature = sign(body)
        assert signature is None or signature.size <= MAX_SIZE


def test_the_rule_says_what_it_is() -> None:
    assert DEFAULT_RULE.closeness > DEFAULT_RULE.containment > DEFAULT_RULE.resemblance

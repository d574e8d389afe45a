"""Similar texts have similar numbers."""

import random
from itertools import pairwise

import mmh3
import pytest

from weft.boards.reading.article.simhash import BITS, simhash

WORDS = [f"word{number}" for number in range(400)]


def distance(one: str, other: str) -> int:
    return (simhash(one) ^ simhash(other)).bit_count()


def test_a_bit_is_set_if_more_than_half_of_the_pairs_have_it() -> None:
    pairs = [f"{one} {other}" for one, other in pairwise(WORDS)]
    hashes = [mmh3.hash64(pair, signed=False)[0] for pair in pairs]
    expected = sum(
        1 << bit
        for bit in range(BITS)
        if 2 * sum(number >> bit & 1 for number in hashes) > len(hashes)
    )
    assert simhash(" ".join(WORDS)) == expected


def test_a_text_with_a_few_other_words_differs_in_few_bits() -> None:
    changed = [*WORDS[:390], *reversed(WORDS[390:])]
    assert distance(" ".join(WORDS), " ".join(changed)) <= 8


def test_another_text_differs_in_many_bits() -> None:
    shuffled = random.Random(7).sample(WORDS, len(WORDS))
    assert distance(" ".join(WORDS), " ".join(shuffled)) >= 16


def test_case_and_signs_do_not_matter() -> None:
    assert simhash("The ferry, again!") == simhash("the FERRY again")


@pytest.mark.parametrize("text", ["", "...", "渡轮", "word"])
def test_very_short_texts_have_a_number(text: str) -> None:
    assert 0 <= simhash(text) < 1 << BITS

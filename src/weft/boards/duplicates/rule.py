"""When two articles are the same story.

`python -m bench.duplicates PAGES` measures what follows from these numbers.
"""

import msgspec

from weft.boards.duplicates.signature import BITS, Signature

_HALF = BITS // 2
_FACTS = 64


class DuplicateRule(msgspec.Struct, frozen=True, array_like=True):
    """All of them are percentages, but `min_facts`. Short texts have to be equal."""

    #: How much of the smaller text is in the other, at least …
    containment: int = 65
    #: … how much of both together they have in common …
    resemblance: int = 38
    #: … and of their numbers, more than by chance; unless one has fewer than `min_facts`.
    facts: int = 70
    min_facts: int = 2
    #: What resembles a duplicate as much is a duplicate of its original, too. Less would lead from
    #: story to story, by pages that have several.
    closeness: int = 70


DEFAULT_RULE = DuplicateRule()


def is_duplicate(
    one: Signature, other: Signature, rule: DuplicateRule = DEFAULT_RULE, *, close: bool = False
) -> bool:
    """Whether they are the same story. `close`: and nearly the same text.

    Only integers, because the script for Redis (rule.lua) has to come to the same result.
    """
    if one.size == 0 or other.size == 0:
        return one.size == other.size and one.sketch == other.sketch and one.marks == other.marks
    equal = _HALF - distance(one, other)  # of half of the bits, beyond chance
    if 100 * equal < (rule.closeness if close else rule.resemblance) * _HALF:
        return False
    common = 100 * equal * (one.size + other.size)
    if common < rule.containment * min(one.size, other.size) * (_HALF + equal):
        return False
    return _agree(one.facts, other.facts, rule)


def distance(one: Signature, other: Signature) -> int:
    """In how many bits their sketches differ: the fewer, the more similar they are."""
    return (one.sketch ^ other.sketch).bit_count()


def _agree(one: int, other: int, rule: DuplicateRule) -> bool:
    """Whether they have the same numbers. Many numbers share bits by chance; that is taken off."""
    ones, others = one.bit_count(), other.bit_count()
    if min(ones, others) < rule.min_facts:
        return True
    by_chance = ones * others
    common = _FACTS * (one & other).bit_count() - by_chance
    return 100 * common >= rule.facts * (_FACTS * min(ones, others) - by_chance)

"""What is remembered of a text, to know it again when it comes with changes.

A text is a set of shingles: a few words in a row. Two texts resemble each other as far as their
sets overlap, and one is contained in the other as far as its set is. For that a signature has

* `sketch`: 256 bits. Each is taken from the shingle with the lowest hash of its share of all
  hashes. Half of the bits of unrelated texts are equal, all bits of equal texts; in between, their
  number tells the resemblance;
* `size`: how many shingles there are. With the resemblance it tells the containment;
* `marks`: five numbers, also from lowest hashes. Texts that resemble each other by one half have
  one in common in 97 of 100 cases, and by that they are found;
* `facts`: the numbers in the text, as bits. Stories that are made from one template have most
  shingles in common, but not these.

The SimHash of a text is not enough for that. Where a quarter of a text is cut off, it differs in as
many bits as between two stories of the same template.
"""

import re
import struct
from collections.abc import Iterable
from functools import cache

import mmh3
import msgspec

from weft.boards.duplicates.words import has_characters, words_of

#: Bits of a sketch.
BITS = 256
MARKS = 5
#: Words in a shingle, and characters in Chinese and the like.
SHINGLE_WORDS = 5
SHINGLE_CHARACTERS = 8
#: Shorter texts are one shingle: they are equal or different.
MIN_WORDS = 40
MIN_CHARACTERS = 80
MAX_SIZE = 65_535

_FACTS = 64
_PACKED = struct.Struct(f">HQ{MARKS}I{BITS // 8}s")
_HAS_DIGIT = re.compile(r"\d").search
#: How often a bit whose share has no shingle looks for another one.
_TRIES = 200


class Signature(msgspec.Struct, frozen=True):
    #: 0: the text is short.
    size: int
    facts: int
    marks: tuple[int, ...]
    sketch: int

    def pack(self) -> bytes:
        sketch = self.sketch.to_bytes(BITS // 8, "big")
        return _PACKED.pack(self.size, self.facts, *self.marks, sketch)


def unpack_signature(packed: bytes) -> Signature:
    size, facts, *marks, sketch = _PACKED.unpack(packed)
    return Signature(size, facts, tuple(marks), int.from_bytes(sketch, "big"))


def sign(body: str, title: str = "") -> Signature | None:
    """The signature of the body of an article; None if it has no words.

    The title counts only if the body is short: what many pages say instead of a story, such as a
    request to log in, is not the same story.
    """
    words = words_of(body)
    if not words:
        return None
    is_eastern = has_characters(words)
    if len(words) < (MIN_CHARACTERS if is_eastern else MIN_WORDS):
        lowest = _lowest([" ".join([*words, "\n", *words_of(title)])])
        size = 0
    else:
        shingles = _shingles(words, SHINGLE_CHARACTERS if is_eastern else SHINGLE_WORDS)
        lowest = _lowest(shingles)
        size = min(len(shingles), MAX_SIZE)
    return Signature(size, _facts(words), _marks(lowest), _sketch(lowest))


def _shingles(words: list[str], length: int) -> set[str]:
    return set(map(" ".join, zip(*(words[at:] for at in range(length)), strict=False)))


def _lowest(shingles: Iterable[str]) -> dict[int, int]:
    """The lowest hash of each share; without those that have none."""
    lowest: dict[int, int] = {}
    for shingle in shingles:
        value = mmh3.hash64(shingle, signed=False)[0]
        share = value % BITS
        if value < lowest.get(share, value + 1):
            lowest[share] = value
    return lowest


def _sketch(lowest: dict[int, int]) -> int:
    sketch = 0
    last_resort = min(lowest.values())
    for bit in range(BITS):
        value = lowest.get(bit)
        if value is None:  # borrowed, by all texts in the same order
            value = next((lowest[at] for at in _others(bit) if at in lowest), last_resort)
        # Another bit of it for each: they may be borrowed from the same.
        sketch |= (value * _factor(bit) >> 70 & 1) << bit
    return sketch


def _marks(lowest: dict[int, int]) -> tuple[int, ...]:
    groups: list[list[int]] = [[] for _ in range(MARKS)]
    for share, value in lowest.items():
        groups[share % MARKS].append(value)
    everything = list(lowest.values())
    found = (min(group or everything) for group in groups)
    return tuple(mmh3.hash(f"{place} {value}", signed=False) for place, value in enumerate(found))


def _facts(words: list[str]) -> int:
    bits = 0
    for number in filter(_HAS_DIGIT, words):
        bits |= 1 << mmh3.hash(number, signed=False) % _FACTS
    return bits


@cache
def _others(bit: int) -> list[int]:
    return [mmh3.hash(f"{bit} {turn}", signed=False) % BITS for turn in range(_TRIES)]


@cache
def _factor(bit: int) -> int:
    return mmh3.hash64(f"factor {bit}", signed=False)[0] | 1

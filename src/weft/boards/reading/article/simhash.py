"""A number for a text that differs in few bits from that of a similar text."""

import re
from itertools import pairwise

import mmh3

BITS = 64
#: The beginning of a text is enough to know it again.
MAX_CHARACTERS = 50_000
#: Bits of a counter: enough for texts of this many words.
_LANE = 24
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
# For each byte, the number that adds one to the counter of each bit that is set.
_SPREAD = [sum(1 << (_LANE * bit) for bit in range(8) if byte >> bit & 1) for byte in range(256)]


def simhash(text: str) -> int:
    """The SimHash of the pairs of words of a text, or of characters in Chinese and the like.

    Texts that share most of their pairs differ in a few of the 64 bits; others in about half.
    """
    words = _WORD.findall(text[:MAX_CHARACTERS].lower())
    pairs = [f"{first} {second}" for first, second in pairwise(words)] or words
    # Counters of all bits in one number: adding two numbers adds all of their counters.
    counters = [0] * 8
    for pair in pairs:
        for place, byte in enumerate(mmh3.hash64(pair, signed=False)[0].to_bytes(8, "little")):
            counters[place] += _SPREAD[byte]
    return sum(
        1 << (8 * place + bit)
        for place, counter in enumerate(counters)
        for bit in range(8)
        if (counter >> (_LANE * bit)) % (1 << _LANE) * 2 > len(pairs)
    )

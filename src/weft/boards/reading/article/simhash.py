"""A number for a text that differs in few bits from that of a similar text."""

import re
from itertools import pairwise

import mmh3

BITS = 64
_BYTES = BITS // 8
#: Of one hash; the first few are enough.
_HASH_BYTES = 16
# For each bit of a byte, the bytes that do not have it.
_WITHOUT = [bytes(byte for byte in range(256) if not byte >> bit & 1) for bit in range(8)]
#: The beginning of a text is enough to know it again.
MAX_CHARACTERS = 50_000
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


def simhash(text: str) -> int:
    """The SimHash of the pairs of words of a text, or of characters in Chinese and the like.

    Texts that share most of their pairs differ in a few of the 64 bits; others in about half.
    """
    words = _WORD.findall(text[:MAX_CHARACTERS].lower())
    pairs = [f"{first} {second}" for first, second in pairwise(words)] or words
    hashes = b"".join(map(mmh3.hash_bytes, pairs))
    columns = [hashes[place::_HASH_BYTES] for place in range(_BYTES)]
    return sum(
        1 << (8 * place + bit)
        for place, column in enumerate(columns)
        for bit, without in enumerate(_WITHOUT)
        if len(column.translate(None, without)) * 2 > len(pairs)
    )

"""The words of a text, as they are the same wherever the text is printed."""

import re
import unicodedata

#: The beginning of a text is enough to know it again.
MAX_CHARACTERS = 50_000

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_CHARACTER = re.compile(rf"[{_CJK}]")
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
#: What pages put into words: soft hyphens, zero-width spaces and marks of direction.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def words_of(text: str) -> list[str]:
    """Without case, punctuation and typography; single characters in Chinese and the like."""
    plain = _INVISIBLE.sub("", text[:MAX_CHARACTERS])
    return _WORD.findall(unicodedata.normalize("NFKC", plain).casefold())


def has_characters(words: list[str]) -> bool:
    """Whether most of the words are single characters of Chinese and the like."""
    return 2 * sum(map(bool, map(_CHARACTER.match, words))) > len(words)

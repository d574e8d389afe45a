"""Decodes a page, whatever encoding it says it has.

Pages declare encodings that they do not have, two at once, or none. So a declaration is only a
hint: valid UTF-8 is UTF-8, and of all other encodings the one is taken that makes the most
plausible text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from weft.boards.reading.alphabets import SIGNS, Alphabet, alphabets

#: The encodings of pages, as Python names them: what browsers know, too. What else a page declares
#: is no encoding of text. The usual ones are tried for every page that is not in UTF-8.
_USUAL = (
    "cp1252", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "cp1251", "koi8-u", "cp1250",
    "iso8859-2", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "iso8859-5",
    "iso8859-6", "cp866",
)  # fmt: skip
_KNOWN = frozenset((
    *_USUAL, "utf-8", "koi8-r", "mac-roman", "mac-cyrillic", "cp1258", "iso8859-3",
    "iso8859-4", "iso8859-7", "iso8859-8", "iso8859-10", "iso8859-13",
    "iso8859-14", "iso8859-15", "iso8859-16",
))  # fmt: skip
#: These are switched on by escape sequences and are pure ASCII on the wire.
_ESCAPED = {"iso2022_jp": b"\x1b$", "iso2022_kr": b"\x1b$)C", "hz": b"~{"}

#: With a greater share of zero bytes, a page is in UTF-16: half of its markup is zeros.
MANY_ZEROS = 0.2
#: Share of broken characters up to which a text counts as UTF-8: pages are cut, and contain pieces
#: of others.
MAX_BROKEN = 0.01
#: Fewer bytes outside ASCII may be valid UTF-8 by chance.
FEW_BYTES = 8
#: How many bytes outside ASCII are tried in the usual encodings, with their words.
SAMPLE_BYTES = 2_048
#: How much more plausible another encoding must be than a declared one, and how much more the fewer
#: bytes speak for it: four bytes prove nothing, a hundred do.
DECLARED_WORTH = 0.05
FEW_BYTES_WORTH = 2.0
#: The plausibility of a text that has nothing but the usual characters of a language, and enough of
#: the frequent ones.
MOST_PLAUSIBLE = 2.0
_ASCII = bytes(range(0x80))
_NO_ASCII = dict.fromkeys(range(0x80))
#: Two bytes of these may be valid UTF-8 by chance.
_PAIRS = frozenset(("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"))
_OUTSIDE_ASCII = re.compile(rb"[\x80-\xff][\x40-\xff]*")
_LETTER = rf"[^\0-\x7f{''.join(SIGNS)}]"
_BESIDE_ASCII = re.compile(rf"[A-Za-z]{_LETTER}|{_LETTER}[A-Za-z]")


class Decoded(NamedTuple):
    text: str
    #: Python's name of the encoding.
    encoding: str


def decode(page: bytes, declared: str | None = None) -> Decoded:
    """`declared`: the encoding that the HTTP header names."""
    encoding, mark = read_bom(page)
    if encoding and mark and encoding != "utf-8":
        return _decode(page[len(mark) :], encoding)
    page = page[len(mark or b"") :]
    candidates = list(_declared(page, declared))
    return _decode(page, _find_encoding(page, candidates))


def _decode(page: bytes, encoding: str) -> Decoded:
    return Decoded(page.decode(encoding, "replace"), encoding)


def _declared(page: bytes, header: str | None) -> Iterator[str]:
    """What header and page declare, as Python names them; both may be wrong."""
    for name in (header, html_body_declared_encoding(page)):
        known = resolve_encoding(name) if name else None
        if known in _KNOWN or known in _ESCAPED:
            yield known


def _find_encoding(page: bytes, declared: list[str]) -> str:
    if b"\0" in page and page.count(0) > MANY_ZEROS * len(page):
        return "utf-16-be" if page[::2].count(0) > page[1::2].count(0) else "utf-16-le"
    if page.isascii():
        names = (*declared, "iso2022_jp")
        return next((n for n in names if n in _ESCAPED and _ESCAPED[n] in page), "utf-8")
    if not _is_utf8(page):
        return _most_plausible(page, [name for name in declared if name in _KNOWN], _USUAL)
    by_chance = [name for name in declared if name in _PAIRS]
    if by_chance and "utf-8" not in declared and len(page.translate(None, _ASCII)) < FEW_BYTES:
        return _most_plausible(page, by_chance, ("utf-8",))
    return "utf-8"


def _is_utf8(page: bytes) -> bool:
    try:
        page.decode()
    except UnicodeDecodeError:
        broken = page.decode("utf-8", "replace").count("\ufffd")
        return broken <= MAX_BROKEN * len(page.translate(None, _ASCII))
    return True


def _most_plausible(page: bytes, declared: list[str], usual: Iterable[str]) -> str:
    """The encoding that makes the most plausible text; the first of equals."""
    sample = b" ".join(islice(_words(page), SAMPLE_BYTES))[:SAMPLE_BYTES]
    outside = len(sample.translate(None, _ASCII))
    worth = DECLARED_WORTH + min(1.0, FEW_BYTES_WORTH / outside)
    best, most = "cp1252", 0.0
    for name in dict.fromkeys((*declared, *usual)):
        score = round(_plausibility(sample, name) + (worth if name in declared else 0.0), 2)
        if score > most:
            best, most = name, score
        if most >= MOST_PLAUSIBLE:
            break
    return best


def _words(page: bytes) -> Iterator[bytes]:
    """The bytes outside ASCII, with those that may belong to them, and the letter before."""
    for match in _OUTSIDE_ASCII.finditer(page):
        before = max(0, match.start() - 1)
        yield page[
            before if page[before : match.start()].isalpha() else match.start() : match.end()
        ]


def _plausibility(sample: bytes, encoding: str) -> float:
    """How much the characters outside ASCII are those of one language, -1 to MOST_PLAUSIBLE."""
    text = sample.decode(encoding, "replace")
    counts = Counter(text.translate(_NO_ASCII))
    signs = SIGNS.intersection(counts)
    letters = counts.total() - _number(counts, signs)
    latin = len(_BESIDE_ASCII.findall(text)) / max(1, letters)
    best = max(_known(counts, signs, alphabet, latin) for alphabet in alphabets())
    return (best - counts["\ufffd"]) / counts.total()


def _known(counts: Counter[str], signs: frozenset[str], alphabet: Alphabet, latin: float) -> float:
    """`latin`: how many of the letters stand beside a letter of ASCII, 0 to 1."""
    usual = _number(counts, alphabet.usual.intersection(counts))
    frequent = _number(counts, alphabet.frequent.intersection(counts))
    worth = min(1.0, 2 * latin) if alphabet.is_latin else 1.0 - latin
    known = worth * (usual + min(usual, frequent / alphabet.expected))
    return known + _number(counts, signs - alphabet.usual)


def _number(counts: Counter[str], characters: Iterable[str]) -> int:
    return sum(counts[character] for character in characters)

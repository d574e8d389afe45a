"""Tells the language of a page."""

import re

from weft.boards.reading.page import Page, find_title_tag

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_LETTER = re.compile(r"[^\W\d_]")
#: Scripts that tell the language, the most telling first: Japanese also writes Han characters.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("uk", re.compile("[іїєґІЇЄҐ]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("fa", re.compile("[پچژگ]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("te", re.compile("[\u0c00-\u0c7f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
    ("hy", re.compile("[\u0530-\u058f]")),
)
#: Frequent short words of languages in Latin letters.
_WORDS = {
    "en": "the and of to in is that for with",
    "de": "der die und das nicht ist mit den von",
    "fr": "le les des et est dans une pour que",
    "es": "el los las del que una por con para",
    "pt": "os que não uma com para dos em da",
    "it": "il che di della per una sono con gli",
    "nl": "het een van niet en dat zijn voor met",
    "pl": "się nie że jest na do oraz przez który",
    "sv": "och att det som är inte för på en",
    "tr": "ve bir bu için ile olarak da daha çok",
    "id": "yang dan di dengan untuk ini pada dari tidak",
    "vi": "của và là không được cho các trong một",
}
#: How many characters are read.
SAMPLE = 4000
#: Share of characters that a script needs. Few kana among Han characters make Japanese.
MIN_SHARE = 0.05
#: A text with fewer such words tells nothing.
MIN_WORDS = 3


def find_language(page: Page) -> str:
    """A tag such as "en" or "pt-BR": as the page declares it, or else by its script and words."""
    root = page.tree.root
    declared = (root.attributes.get("lang") or root.attributes.get("xml:lang")) if root else None
    for text in (
        declared or "",
        page.meta("og:locale", "content-language", "language", "inlanguage"),
    ):
        if _TAG.fullmatch(text.strip()):
            return _normal(text.strip())
    return _guess(page)


def _normal(tag: str) -> str:
    first, *rest = re.split("[-_]", tag)
    return "-".join([first.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def _guess(page: Page) -> str:
    body = page.tree.body
    text = f"{find_title_tag(page)} {body.text(separator=' ', strip=True)[:SAMPLE] if body else ''}"
    letters = len(_LETTER.findall(text))
    for language, script in _SCRIPTS:
        if letters and len(script.findall(text)) >= MIN_SHARE * letters:
            return language
    return _by_words(text)


def _by_words(text: str) -> str:
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {name: sum(map(set(own.split()).__contains__, words)) for name, own in _WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= MIN_WORDS else ""

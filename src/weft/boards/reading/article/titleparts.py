# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Takes a title apart: "Title - Section | Site"."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from weft.boards.reading.article.sitenames import SiteNames
from weft.boards.reading.article.texts import key

#: What stands between a title and a name. Hyphens and the like need spaces around them, because
#: words contain them; an underscore needs Chinese beside it, because file names contain it.
_SEPARATOR = re.compile(
    r"\s*[|｜¦‖]+\s*|\s*(?:::|__)\s*|\s+[-–—―−·•:/~<>›»_]+\s+|(?<=[^\x00-\x7f])[_－—]+|[_－—]+(?=[^\x00-\x7f])"
)
#: After one of these the rest is a name even if nothing confirms it.
_STRONG = re.compile(r"[|｜¦‖»_－]")
#: Names of sections are short.
MAX_SECTION_WORDS = 3
#: The few titles of a page are taken apart again and again; no more than these are kept.
CACHED = 32
#: "Site: Title"
_BEFORE_COLON = re.compile(r"([^:：]{2,40})[:：]\s+(?=\S)")


class Part(NamedTuple):
    #: The separator before it.
    before: str
    text: str


@lru_cache(CACHED)
def split(text: str) -> tuple[Part, ...]:
    parts, before, at = [], "", 0
    for match in _SEPARATOR.finditer(text):
        is_quotation = "»" in match[0] and "«" in text[: match.start()]
        if match.start() > at and not is_quotation:
            parts.append(Part(before, text[at : match.start()]))
            before, at = match[0], match.end()
    return (*parts, Part(before, text[at:])) if at < len(text) else tuple(parts)


def joined(parts: Sequence[Part]) -> str:
    """The parts with the separators between them."""
    return "".join(p.text if not n else p.before + p.text for n, p in enumerate(parts)).strip()


def beginnings(text: str) -> list[str]:
    """All that a title can be without names behind it, the longest first; not the whole."""
    parts = split(text)
    return [joined(parts[:end]) for end in range(len(parts) - 1, 0, -1)]


def endings(text: str) -> list[str]:
    """All that a title can be without names before it, the longest first; not the whole."""
    parts = split(text)
    return [joined(parts[start:]) for start in range(1, len(parts))]


def strip_names(text: str, confirmed: Collection[str], names: SiteNames) -> str:
    """The part of a title that another source confirms, or that is not a name.

    `confirmed`: keys of what the other sources give as the title.
    """
    for part in (*beginnings(text), *endings(text)):
        if key(part) in confirmed and not names.is_name(part):
            return part
    return _strip_unconfirmed(text, names)


def _strip_unconfirmed(text: str, names: SiteNames) -> str:
    parts = split(text)
    start, end = 0, len(parts)
    while end > 1 and names.is_like(parts[end - 1].text):
        end -= 1
    if 1 < end < len(parts) and _is_section(parts[: end + 1]):
        end -= 1
    while end - start > 1 and names.is_name(parts[start].text):
        start += 1
    if end - start == len(parts):
        end = _end_at_strong(parts)
    return _without_prefix(joined(parts[start:end]), names)


def _is_section(parts: Sequence[Part]) -> bool:
    """Whether the last part but one is a section: "Title - Section - Site"."""
    section, site = parts[-2:]
    title = joined(parts[:-2])
    return (
        section.before.strip() == site.before.strip()
        and len(section.text.split()) <= MAX_SECTION_WORDS
        and 2 * len(key(section.text)) < len(key(title))
    )


def _end_at_strong(parts: Sequence[Part]) -> int:
    """Where the title ends if what follows a strong separator is shorter than it."""
    for number, part in enumerate(parts):
        title = joined(parts[:number])
        if _STRONG.search(part.before) and len(key(part.text)) < len(key(title)):
            return number
    return len(parts)


def split_at_colon(text: str) -> tuple[str, str]:
    """What stands before a colon, and the rest; nothing before it if there is no colon."""
    match = _BEFORE_COLON.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def _without_prefix(text: str, names: SiteNames) -> str:
    site, title = split_at_colon(text)
    return title if site and names.is_name(site) else text

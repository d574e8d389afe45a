"""Which of its addresses a page is known by, and which addresses are of one page."""

import re
from urllib.parse import parse_qsl, urlsplit

#: What a script is called says nothing about the page.
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|jsp|do|cgi|cfm)$|^(?:index|default)\b", re.IGNORECASE)
#: `/ferry/`, `/ferry/index.html`, `/ferry.html` and `/ferry` are mostly the same.
_IDLE_END = re.compile(r"(?:/+(?:(?:index|default)\.\w{2,5})?|\.html?)$", re.IGNORECASE)
_TELLING = re.compile(r"\d|[-_].*[-_]|[^\x00-\x7f]|%|.{15}")


def address_of(url: str, canonical_url: str) -> str:
    """The address of an article whose page names a canonical one; its own, unless it is sure that
    it is a variant of that, such as one to be printed.

    Sites often name a wrong one: the same for all of their articles. So only what has fewer
    parameters is believed, and only if the rest says which page it is.
    """
    own, named = urlsplit(url), urlsplit(canonical_url)
    if (own.hostname, own.path) != (named.hostname, named.path) or own.query == named.query:
        return url
    parameters, kept = _parameters(own.query), _parameters(named.query)
    if not kept < parameters:
        return url
    return canonical_url if kept or _says_which(named.path) else url


def are_variants(url: str, other: str) -> bool:
    """Whether two addresses are of one page, if it looks the same at both: they differ only in what
    most servers don't mind."""
    return _plain(url) == _plain(other)


def _plain(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    path = _IDLE_END.sub("", parts.path)
    return parts.netloc.removeprefix("www."), path, parts.query


def _parameters(query: str) -> set[tuple[str, str]]:
    return set(parse_qsl(query, keep_blank_values=True))


def _says_which(path: str) -> bool:
    last = path.rstrip("/").rpartition("/")[2]
    return bool(_TELLING.search(last)) and not _SCRIPT.search(last)

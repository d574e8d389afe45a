"""Tells whether a text is a name of the page's site."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from weft.boards.reading.article.linked import find_article, first_text, resolved, types
from weft.boards.reading.article.texts import key
from weft.boards.reading.page import Page, find_own_site_name

#: Labels of host names that name no site.
_COMMON_LABELS = frozenset((
    "www", "www2", "m", "mobile", "amp", "blog", "blogs", "news", "web", "en", "com", "org", "net",
    "co", "edu", "gov", "ac", "forum", "forums", "docs",
))  # fmt: skip
#: Types of JSON-LD objects whose name is that of the site.
_SITES = frozenset(("WebSite", "Organization", "NewsMediaOrganization", "Corporation"))
#: Shorter names say too little to be found inside a text.
MIN_NAME = 4
#: How much longer than the name a text is that adds a word to it: "Site", "Site News".
MAX_STRETCH = 2.5


def host_of(url: str) -> str:
    """The host name of a URL; empty if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class SiteNames(NamedTuple):
    """Names of a site as keys: what the page calls it, and the labels of its host name."""

    given: frozenset[str]
    labels: frozenset[str]

    def extended(self, names: Iterable[str]) -> "SiteNames":
        return self._replace(given=self.given.union(map(key, names)) - {""})

    def is_name(self, text: str) -> bool:
        """Whether the text is exactly a name of the site, or its host name."""
        wanted = key(text)
        return wanted in self.given or wanted in self.labels

    def is_like(self, text: str) -> bool:
        """Whether the text is a name of the site, a part of one, or one with words added."""
        wanted = key(text)
        if not wanted or self.is_name(text) or self._has_initials(text):
            return True
        for name in self.given | self.labels:
            short, long = sorted((wanted, name), key=len)
            if len(short) >= MIN_NAME and short in long and len(wanted) < MAX_STRETCH * len(name):
                return True
        return False

    def _has_initials(self, text: str) -> bool:
        """ "World Health Organization" on who.int."""
        initials = key("".join(word[0] for word in text.split()))
        return len(initials) > 1 and initials in self.labels


def find_site_names(page: Page) -> SiteNames:
    given = {key(text) for text in _names(page)}
    host = host_of(page.url)
    labels = {key(label) for label in host.split(".")[:-1]} - _COMMON_LABELS
    whole = {key(host), key(host.removeprefix("www."))}
    return SiteNames(frozenset((given | whole) - {""}), frozenset(labels - {""}))


def find_publisher(page: Page) -> str:
    """Who publishes the page's article by its JSON-LD; empty if that does not say it."""
    return first_text(resolved(page, find_article(page).get("publisher")))


def _names(page: Page) -> list[str]:
    return [find_own_site_name(page), find_publisher(page), *_names_of_sites(page.json_ld)]


def _names_of_sites(objects: list[dict[str, Any]]) -> list[str]:
    return [first_text(entry) for entry in objects if _SITES.intersection(types(entry))]

"""The front door: what is served for a request, and the ground truth to compare a crawl with."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote, urlencode

from weft.demo.newsroom.conditions import conditional
from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.jumps import jump
from weft.demo.newsroom.lists import Listing, listings_of
from weft.demo.newsroom.pages import Kind, pages_of
from weft.demo.newsroom.papers import BY_NAME, LAST_EDITION
from weft.demo.newsroom.pictures import picture
from weft.demo.newsroom.plainpages import not_found_page
from weft.demo.newsroom.stories import PaperStory, stories
from weft.demo.newsroom.traps import CALENDAR, calendar_page
from weft.errors import ConfigError

JUMP_PATH = "/link"
_PICTURE = re.compile(r"/images/[a-z]+-\d+\.png")
#: The parameters that make a difference; sites ignore others.
_PARAMETERS = frozenset(("page", "p", "start", "print"))
#: The first page may be asked for, too.
_FIRST = frozenset((("page", "1"), ("p", "1"), ("start", "0")))
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Newsroom:
    """Three papers, each on a site of its own, as they are in one edition.

    The same bases, edition and request give the same answer.
    """

    def __init__(self, bases: Mapping[str, str], edition: int = 0) -> None:
        """`bases`: where each paper that is served is, by name: `http://127.0.0.1:8000`."""
        if unknown := bases.keys() - BY_NAME.keys():
            raise ConfigError(f"no such papers: {sorted(unknown)}; there are {sorted(BY_NAME)}")
        self.bases = {name: base.rstrip("/") for name, base in bases.items()}
        self.edition = edition

    @property
    def edition(self) -> int:
        """0 at first; each of the next three adds articles. It may be set at any time."""
        return self._edition

    @edition.setter
    def edition(self, edition: int) -> None:
        if not 0 <= edition <= LAST_EDITION:
            raise ConfigError(f"edition {edition} must be 0 to {LAST_EDITION}")
        self._edition = edition

    def serve(self, paper: str, target: str, headers: Mapping[str, str] = _NO_HEADERS) -> Served:
        """The answer for a path with its query. The names of headers are in lower case."""
        issue = self._issue(paper)
        path, _, query = target.partition("?")
        found = _listed(issue, unquote(path), query) or _endless(issue, path, query)
        return conditional(found or not_found_page(issue), headers)

    # The ground truth

    def stories(self) -> dict[str, PaperStory]:
        """The articles by canonical URL."""
        return {
            self.url(story.paper, story.path): story
            for story in stories(self.edition)
            if story.paper in self.bases
        }

    def listings(self) -> Iterator[Listing]:
        """The list pages of the sections that need no browser."""
        for name in self.bases:
            issue = self._issue(name)
            for section in issue.paper.sections:
                if section.markup != "app":
                    yield from listings_of(issue, section)

    def kinds(self, paper: str) -> dict[str, Kind]:
        """All pages and files of a paper by path with query, but for the endless ones."""
        return {path: page.kind for path, page in pages_of(self._issue(paper)).items()}

    def url(self, paper: str, path: str = "/") -> str:
        return self.bases[paper] + path

    def _issue(self, paper: str) -> Issue:
        return Issue(BY_NAME[paper], self.edition, tuple(self.bases.items()))


def _listed(issue: Issue, path: str, query: str) -> Served | None:
    asked = [pair for pair in parse_qsl(query) if pair[0] in _PARAMETERS and pair not in _FIRST]
    page = pages_of(issue).get(f"{path}?{urlencode(asked)}" if asked else path)
    return page.make() if page else None


def _endless(issue: Issue, path: str, query: str) -> Served | None:
    if path.startswith(CALENDAR) and not issue.paper.language.startswith("zh"):
        return calendar_page(issue, path)
    if path == JUMP_PATH:
        return jump(issue, dict(parse_qsl(query)).get("url", ""))
    return picture(path) if _PICTURE.fullmatch(path) else None

"""An issue: one edition of a paper, on a site with an address. All pages are made from it."""

from datetime import datetime
from typing import NamedTuple

from weft.demo.newsroom.papers import BY_NAME, Paper, Section, Validators
from weft.demo.newsroom.stories import PaperStory, section_stories


class Served(NamedTuple):
    """What is sent for a request."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    #: What a client may ask with whether it has changed.
    validators: Validators = "etag"
    #: When it changed last; None if the site does not know.
    modified: datetime | None = None
    #: Further headers, such as the ETag.
    headers: tuple[tuple[str, str], ...] = ()


class Issue(NamedTuple):
    paper: Paper
    edition: int
    #: Name and address, without a slash at the end, of each paper that is served.
    bases: tuple[tuple[str, str], ...]

    @property
    def base(self) -> str:
        return dict(self.bases)[self.paper.name]

    @property
    def others(self) -> list[Paper]:
        return [BY_NAME[name] for name, _ in self.bases if name != self.paper.name]

    def url(self, path: str) -> str:
        return self.base + path

    def stories(self, section: Section) -> tuple[PaperStory, ...]:
        """Newest first."""
        return section_stories(self.paper, section, self.edition)

    def plain_stories(self) -> list[PaperStory]:
        """The stories that need no browser, newest first."""
        found = [
            story
            for section in self.paper.sections
            if section.markup != "app"
            for story in self.stories(section)
        ]
        return sorted(found, key=lambda story: story.moment, reverse=True)


def redirect(path: str, status: int = 302) -> Served:
    return Served(b"", "text/plain; charset=utf-8", status, path, "none")

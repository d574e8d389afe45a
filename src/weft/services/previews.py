"""Shows what a board would find on entry pages, and drafts its file."""

from collections.abc import Sequence

import msgspec

from weft.boards.board.draft import draft_board, name_of
from weft.boards.board.form import problem_of_entry, problem_of_name
from weft.boards.reading.reading import ReadOptions
from weft.clock import today
from weft.errors import ConfigError
from weft.services.readings import PageSource, ReadPage, read_pages
from weft.urls import without_password

#: Topic links of each entry that are read as a sample.
SAMPLE = 3


class Preview(msgspec.Struct, frozen=True):
    """What a board with these entries would find."""

    entries: Sequence[ReadPage]
    #: Some of what their topic links lead to.
    samples: Sequence[ReadPage]
    #: The text of a board file.
    text: str

    @property
    def is_empty(self) -> bool:
        """Not one of the entries could be read."""
        return all(page.problem for page in self.entries)

    @property
    def problems(self) -> list[str]:
        """Why entries are of no use as they are."""
        return [told for page in self.entries if (told := _problem_of(page))]


async def preview_board(urls: Sequence[str], name: str = "") -> Preview:
    """Fetch entry pages and a few of their articles. Raises ConfigError for what a board cannot
    have."""
    for url in urls:
        if problem := problem_of_entry(url):
            raise ConfigError(f"{without_password(url)}: {problem}")
    name = name or name_of(urls[0])
    if problem := problem_of_name(name):
        raise ConfigError(f"{name}: {problem}")
    urls = [*dict.fromkeys(urls)]
    entries = await _read(urls, ReadOptions(is_list=True))
    chosen: list[str] = []
    for page in entries:
        links = page.reading.links if page.reading else ()
        chosen += [link.url for link in links[:SAMPLE]]
    samples = await _read([*dict.fromkeys(chosen)], ReadOptions())
    return Preview(entries, samples, draft_board(name, urls))


async def _read(urls: Sequence[str], options: ReadOptions) -> list[ReadPage]:
    sources = [PageSource(url) for url in urls]
    return [page async for page in read_pages(sources, options, today())] if sources else []


def _problem_of(page: ReadPage) -> str:
    if page.problem:
        return f"{page.source}: {page.problem}"
    if page.reading and not page.reading.links:
        return (
            f"{page.source}: no links to articles were found; name a page that lists some, or try "
            "browser: true if the page needs JavaScript"
        )
    return ""

"""List pages: those of the sections with their pagers, the home page, tags, authors, months."""

# ruff: noqa: RUF001 - the arrows of pagers are meant

from collections import Counter
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.jumps import jump_links
from weft.demo.newsroom.markup import (
    breadcrumbs,
    bullets,
    canonical,
    columns,
    day_of,
    link,
    most_read,
    page,
    text,
    words_of,
)
from weft.demo.newsroom.papers import Paper, Section
from weft.demo.newsroom.stories import PaperStory, slug_of, stories

#: How many stories of a section the home page shows.
TEASERS = 3
#: How many stories a tag needs to have a page.
TAGGED = 3


class Listing(NamedTuple):
    """A page of a list: the ground truth."""

    paper: str
    path: str
    #: Newest first.
    stories: tuple[PaperStory, ...]
    #: The path of the next page; empty on the last.
    next: str


def page_path(section: Section, number: int) -> str:
    if number == 1:
        return section.folder
    return section.list_path.format(page=number, before=(number - 1) * section.per_page)


def listings_of(issue: Issue, section: Section) -> list[Listing]:
    known = issue.stories(section)
    last = max(1, -(-len(known) // section.per_page))
    return [
        Listing(
            issue.paper.name,
            page_path(section, number),
            known[(number - 1) * section.per_page : number * section.per_page],
            page_path(section, number + 1) if number < last else "",
        )
        for number in range(1, last + 1)
    ]


def list_page(issue: Issue, section: Section, number: int) -> Served:
    pages = listings_of(issue, section)
    listing = pages[number - 1]
    session = f"PHPSESSID={crc32(listing.path.encode()):08x}" * (section.pager == "arrows")
    writer = _Writer(section, session, number, len(pages))
    teasers = "\n".join(writer.teaser(issue, story) for story in listing.stories)
    trail = breadcrumbs((("/", words_of(issue.paper).home), (section.folder, section.title)))
    if section.pager == "chinese":
        teasers = f'<ul class="news_list">\n{teasers}\n</ul>'
    main = f"{trail}\n<h1>{section.title}</h1>\n{teasers}\n{writer.pager()}"
    # Links are relative to the folder of the section, on all of its list pages.
    head = f'<base href="{section.folder}">\n' * (section.pager == "next")
    content = columns(main, most_read(issue))
    html = page(issue, section.title, content, head, section.declared[0])
    return encoded(section, html)._replace(modified=pages[0].stories[0].moment)


def encoded(section: Section, html: str) -> Served:
    charset = section.header_charset
    content_type = f"text/html; charset={charset}" if charset else "text/html"
    # Signs that the encoding lacks, as those of breadcrumbs.
    body = html.encode(section.encoding, "xmlcharrefreplace")
    return Served(body, content_type, validators=section.validators)


class _Writer:
    """Writes the teasers and the pager of one list page."""

    def __init__(self, section: Section, session: str, number: int, last: int) -> None:
        self._section = section
        self._session = session
        self._number = number
        self._last = last

    def teaser(self, issue: Issue, story: PaperStory) -> str:
        day = day_of(story, issue.paper)
        title = self._link(story.path, story.title)
        if self._section.pager == "chinese":
            return f'<li>{title}<span class="date">{day}</span></li>'
        who = " · ".join((day, *story.authors)) if self._section.shows != "nothing" else ""
        return (
            f'<div class="teaser"><h2>{title}</h2>\n'
            f'<p class="meta">{text(who)}</p>\n<p>{text(story.description)}</p></div>'
        )

    def pager(self) -> str:
        if self._last == 1:
            return ""
        makers = {
            "numbers": self._numbers,
            "next": self._words,
            "more": self._more,
            "arrows": self._arrows,
            "chinese": self._chinese,
        }
        links = makers[self._section.pager]()
        return f'<div class="pagination">{" ".join(links)}</div>'

    def _numbers(self) -> list[str]:
        return [
            f'<span class="current">{number}</span>'
            if number == self._number
            else self._to(number, str(number))
            for number in range(1, self._last + 1)
        ]

    def _words(self) -> list[str]:
        return self._around("Previous", "Next")

    def _more(self) -> list[str]:
        if self._number == self._last:
            return []
        return [self._to(self._number + 1, "Load more stories", ' class="load-more" rel="next"')]

    def _arrows(self) -> list[str]:
        first, *rest = self._numbers()
        before, after = self._around("‹", "›")[:1], self._around("‹", "›")[-1:]
        if self._number == 1:
            before = []
        if self._number == self._last:
            after = []
        return [*before, first, *rest, *after]

    def _chinese(self) -> list[str]:
        ends = [self._to(1, "首页"), self._to(self._last, "尾页")]
        return [ends[0], *self._around("上一页", "下一页"), ends[1]]

    def _around(self, before: str, after: str) -> list[str]:
        found = []
        if self._number > 1:
            found.append(self._to(self._number - 1, before))
        if self._number < self._last:
            found.append(self._to(self._number + 1, after))
        return found

    def _to(self, number: int, label: str, attributes: str = "") -> str:
        return self._link(page_path(self._section, number), label, attributes)

    def _link(self, path: str, label: str, attributes: str = "") -> str:
        if self._section.pager == "next":
            path = path.removeprefix(self._section.folder) or "./"
        if self._session:
            path += ("&" if "?" in path else "?") + self._session
        return link(path, label, attributes)


def home_page(issue: Issue) -> Served:
    paper = issue.paper
    parts = [f'<h1 class="claim">{text(paper.title)}</h1>']
    for section in paper.sections:
        if section.markup != "app":
            parts.append(_block(issue, section))
    if paper.name == "digest":
        parts.append(_elsewhere(issue))
    feeds = "".join(
        f'<link rel="alternate" type="{kind}" title="{text(paper.title)}" href="{path}">\n'
        for path, kind in FEEDS[paper.name].items()
    )
    html = page(
        issue, paper.title, columns("\n".join(parts), most_read(issue)),
        canonical(issue, "/") + feeds,
    )  # fmt: skip
    return Served(html.encode(), validators="etag")


#: The feeds that home pages announce, with their types.
FEEDS: dict[str, dict[str, str]] = {
    "courier": {"/feed.xml": "application/rss+xml", "/science/atom.xml": "application/atom+xml"},
    "evening": {"/rss.xml": "application/rss+xml"},
    "digest": {},
}


def _block(issue: Issue, section: Section) -> str:
    teasers = "\n".join(
        f'<div class="teaser"><h3>{link(story.path, story.title)}</h3>\n'
        f"<p>{text(story.description)}</p></div>"
        for story in issue.stories(section)[:TEASERS]
    )
    return f"<section>\n<h2>{link(section.folder, section.title)}</h2>\n{teasers}\n</section>"


def _elsewhere(issue: Issue) -> str:
    """What the digest liked in other papers: links that lead there through its jump service."""
    entries = [link(path, title) for path, title in jump_links(issue)]
    if not entries:
        return ""
    return f"<section>\n<h2>Elsewhere on the bay</h2>\n{bullets(entries, 'elsewhere')}\n</section>"


def tag_path(tag: str) -> str:
    return f"/tag/{slug_of(tag) or tag}/"


@lru_cache
def page_tags(paper: Paper) -> tuple[str, ...]:
    """The tags that have pages, the same in all editions: those that many stories had at first.

    So pages of articles do not change with each edition.
    """
    first = [story for story in stories() if story.paper == paper.name and not story.needs_browser]
    counts = Counter(tag for story in first for tag in story.tags)
    return tuple(tag for tag, count in counts.items() if count >= TAGGED)


def author_path(name: str) -> str:
    return f"/author/{slug_of(name) or name}/"


def month_path(story: PaperStory) -> str:
    return f"/archive/{story.moment:%Y/%m}/"


def collection_page(issue: Issue, title: str, known: list[PaperStory]) -> Served:
    """A list of stories of several sections: of a tag, an author, a month."""
    entries = [
        f'{link(story.path, story.title)} <span class="date">{day_of(story, issue.paper)}</span>'
        for story in known
    ]
    main = f"<h1>{text(title)}</h1>\n{bullets(entries, 'stories')}"
    return Served(page(issue, title, columns(main, most_read(issue))).encode())


def archive_page(issue: Issue) -> Served:
    months = dict.fromkeys(month_path(story) for story in issue.plain_stories())
    entries = [link(path, path.removeprefix("/archive/").strip("/")) for path in months]
    title = "往期" if issue.paper.language.startswith("zh") else "Archive"
    return Served(page(issue, title, f"<h1>{title}</h1>\n{bullets(entries, 'months')}").encode())

"""All pages and files of an issue, by address."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Literal, NamedTuple

from weft.demo.newsroom.appsection import (
    SCRIPT,
    app_script,
    data_path,
    list_data,
    name_of,
    shell_page,
    story_data,
)
from weft.demo.newsroom.articles import article_page, print_page, print_path
from weft.demo.newsroom.feeds import ATOM, atom_feed, rss_feed
from weft.demo.newsroom.issue import Issue, Served, redirect
from weft.demo.newsroom.lists import (
    FEEDS,
    archive_page,
    author_path,
    collection_page,
    home_page,
    list_page,
    listings_of,
    month_path,
    page_tags,
    tag_path,
)
from weft.demo.newsroom.papers import Section
from weft.demo.newsroom.plainpages import (
    LOGIN_PATH,
    forbidden_page,
    has_members,
    login_page,
    plain_page,
    search_page,
)
from weft.demo.newsroom.seeds import plain_pages
from weft.demo.newsroom.sitemaps import announcements
from weft.demo.newsroom.stories import PaperStory
from weft.demo.newsroom.traps import COMPLETE_PATH, LABYRINTH_PATH, complete_page, labyrinth_page

#: An article; a list of a section, or the home page; a list by tag, author or month; an article for
#: printers; text that is no article; a page that a script fills, or what it fetches; a feed or
#: another file for programs; a page that does not go well.
Kind = Literal["article", "list", "collection", "print", "plain", "app", "file", "trap", "redirect"]


class SitePage(NamedTuple):
    kind: Kind
    make: Callable[[], Served]


Entries = Iterator[tuple[str, SitePage]]


@lru_cache(maxsize=32)
def pages_of(issue: Issue) -> Mapping[str, SitePage]:
    """What is there, by path and query; but for the pages that have no end, and pictures."""
    return dict([*_general(issue), *_sections(issue), *_collections(issue), *_files(issue)])


def _general(issue: Issue) -> Entries:
    yield "/", SitePage("list", partial(home_page, issue))
    yield "/index.html", _moved("/")
    for content in plain_pages(issue.paper.name):
        yield f"/{content.name}", SitePage("plain", partial(plain_page, issue, content))
    yield "/search", SitePage("plain", partial(search_page, issue))
    if has_members(issue):
        yield "/members/", SitePage("redirect", partial(redirect, LOGIN_PATH))
        yield LOGIN_PATH, SitePage("plain", partial(login_page, issue))
    if issue.paper.name == "courier":
        yield "/money/", _moved("/business/")
        yield "/admin/", SitePage("plain", partial(forbidden_page, issue))
        yield COMPLETE_PATH, SitePage("trap", partial(complete_page, issue))
        yield LABYRINTH_PATH, SitePage("trap", partial(labyrinth_page, issue))


def _moved(path: str) -> SitePage:
    return SitePage("redirect", partial(redirect, path, 301))


def _sections(issue: Issue) -> Entries:
    for section in issue.paper.sections:
        yield section.folder.rstrip("/"), _moved(section.folder)
        yield from (_app if section.markup == "app" else _section)(issue, section)


def _section(issue: Issue, section: Section) -> Entries:
    for number, listing in enumerate(listings_of(issue, section), start=1):
        yield listing.path, SitePage("list", partial(list_page, issue, section, number))
    for story in issue.stories(section):
        yield story.path, SitePage("article", partial(article_page, issue, section, story))
        if section.has_prints:
            page = SitePage("print", partial(print_page, issue, section, story))
            yield print_path(story), page


def _app(issue: Issue, section: Section) -> Entries:
    shell = SitePage("app", partial(shell_page, issue, section))
    yield section.folder, shell
    yield section.folder + SCRIPT, SitePage("file", app_script)
    yield data_path(section), SitePage("file", partial(list_data, issue, section))
    for story in issue.stories(section):
        yield story.path, shell
        data = SitePage("file", partial(story_data, issue, section, story))
        yield data_path(section, name_of(section, story)), data


def _collections(issue: Issue) -> Entries:
    yield "/archive/", SitePage("collection", partial(archive_page, issue))
    for path, (title, known) in _titled(issue).items():
        yield path, SitePage("collection", partial(collection_page, issue, title, known))


def _titled(issue: Issue) -> dict[str, tuple[str, list[PaperStory]]]:
    """Title and stories of each collection, by path."""
    found: dict[str, tuple[str, list[PaperStory]]] = {}

    def put(path: str, title: str, story: PaperStory) -> None:
        found.setdefault(path, (title, []))[1].append(story)

    tags = page_tags(issue.paper)
    has_authors = any(section.markup in ("linked", "undated") for section in issue.paper.sections)
    for story in issue.plain_stories():
        put(month_path(story), f"{story.moment:%Y-%m}", story)
        for tag in story.tags:
            if tag in tags:
                put(tag_path(tag), tag, story)
        for name in story.authors if has_authors else ():
            put(author_path(name), name, story)
    return found


def _files(issue: Issue) -> Entries:
    for path, make in announcements(issue).items():
        yield path, SitePage("file", make)
    for path, kind in FEEDS[issue.paper.name].items():
        if kind == ATOM:
            section = issue.paper.section(path.split("/")[1])
            yield path, SitePage("file", partial(atom_feed, issue, section, path))
        else:
            yield path, SitePage("file", partial(rss_feed, issue))

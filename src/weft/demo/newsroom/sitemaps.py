"""Sitemaps and robots.txt.

The courier has an index, which robots.txt names, of three sitemaps: lists and other pages, packed
ones of two sections, and news. The evening paper has one sitemap at the usual place, which nothing
names. The digest has neither. Other sections are in none, so that a crawl has to find them.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from gzip import compress
from html import escape

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.seeds import plain_pages
from weft.demo.newsroom.stories import PaperStory

ROBOTS_PATH = "/robots.txt"
INDEX_PATH = "/sitemap-index.xml"
#: The sections whose stories the sitemaps name.
MAPPED = {"courier": ("business", "sport"), "evening": ("city",)}
NEWS = 8
_START = '<?xml version="1.0" encoding="utf-8"?>\n'
_SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
_NEWS_SCHEMA = "http://www.google.com/schemas/sitemap-news/0.9"


def announcements(issue: Issue) -> dict[str, Callable[[], Served]]:
    """What makes each of the files, by path."""
    makers: dict[str, dict[str, Callable[[Issue], Served]]] = {
        "courier": {
            ROBOTS_PATH: _robots,
            INDEX_PATH: _index,
            "/sitemap-pages.xml": _pages,
            "/sitemap-stories.xml.gz": _packed_stories,
            "/sitemap-news.xml": _news,
        },
        "evening": {ROBOTS_PATH: _robots, "/sitemap.xml": _stories},
        "digest": {},
    }
    return {path: partial(make, issue) for path, make in makers[issue.paper.name].items()}


def _robots(issue: Issue) -> Served:
    lines = ["User-agent: *", "Disallow: /admin/", "Disallow: /search"]
    if INDEX_PATH in announcements(issue):
        lines += ["", f"Sitemap: {issue.url(INDEX_PATH)}"]
    return Served(("\n".join(lines) + "\n").encode(), "text/plain; charset=utf-8")


def _index(issue: Issue) -> Served:
    parts = [
        path for path in announcements(issue) if path.startswith("/sitemap-") and path != INDEX_PATH
    ]
    entries = "".join(f"<sitemap><loc>{issue.url(path)}</loc></sitemap>\n" for path in parts)
    return _xml(f'<sitemapindex xmlns="{_SCHEMA}">\n{entries}</sitemapindex>\n')


def _pages(issue: Issue) -> Served:
    paths = ["/", *(section.folder for section in issue.paper.sections)]
    paths += [f"/{each.name}" for each in plain_pages(issue.paper.name)]
    return _url_set(issue, ((path, None) for path in paths))


def _stories(issue: Issue) -> Served:
    return _url_set(issue, ((story.path, story.moment) for story in _mapped(issue)))


def _packed_stories(issue: Issue) -> Served:
    # Without the time in its header it is the same whenever it is packed.
    return Served(compress(_stories(issue).body, mtime=0), "application/x-gzip")


def _mapped(issue: Issue) -> list[PaperStory]:
    sections = [
        section for section in issue.paper.sections if section.name in MAPPED[issue.paper.name]
    ]
    return [story for section in sections for story in issue.stories(section)]


def _news(issue: Issue) -> Served:
    entries = "".join(
        f"<url><loc>{escape(issue.url(story.path))}</loc><news:news><news:publication>"
        f"<news:name>{escape(issue.paper.title)}</news:name>"
        f"<news:language>{issue.paper.language}</news:language></news:publication>"
        f"<news:publication_date>{story.moment.isoformat()}</news:publication_date>"
        f"<news:title>{escape(story.title)}</news:title></news:news></url>\n"
        for story in issue.plain_stories()[:NEWS]
    )
    return _xml(f'<urlset xmlns="{_SCHEMA}" xmlns:news="{_NEWS_SCHEMA}">\n{entries}</urlset>\n')


def _url_set(issue: Issue, entries: Iterable[tuple[str, datetime | None]]) -> Served:
    urls = "".join(
        f"<url><loc>{escape(issue.url(path))}</loc>"
        + (f"<lastmod>{moment.isoformat()}</lastmod>" if moment else "")
        + "</url>\n"
        for path, moment in entries
    )
    return _xml(f'<urlset xmlns="{_SCHEMA}">\n{urls}</urlset>\n')


def _xml(text: str) -> Served:
    return Served((_START + text).encode(), "application/xml")

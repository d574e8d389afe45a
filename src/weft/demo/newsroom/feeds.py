"""The feeds that home pages announce: RSS and Atom, of the newest stories."""

from email.utils import format_datetime
from html import escape

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.papers import Section
from weft.demo.newsroom.stories import PaperStory

ENTRIES = 10
RSS = "application/rss+xml"
ATOM = "application/atom+xml"
_START = '<?xml version="1.0" encoding="utf-8"?>\n'


def rss_feed(issue: Issue) -> Served:
    newest = issue.plain_stories()[:ENTRIES]
    items = "".join(
        f"<item><title>{escape(story.title)}</title><link>{escape(issue.url(story.path))}</link>"
        f"<description>{escape(story.description)}</description>"
        f'<guid isPermaLink="false">{story.key}</guid>'
        f"<pubDate>{format_datetime(story.moment)}</pubDate></item>\n"
        for story in newest
    )
    return _feed(
        RSS,
        newest,
        f'<rss version="2.0"><channel>\n<title>{escape(issue.paper.title)}</title>\n'
        f"<link>{issue.url('/')}</link>\n<description>{escape(issue.paper.title)}</description>\n"
        f"<language>{issue.paper.language}</language>\n<ttl>30</ttl>\n{items}</channel></rss>\n",
    )


def atom_feed(issue: Issue, section: Section, path: str) -> Served:
    newest = list(issue.stories(section)[:ENTRIES])
    entries = "".join(
        f"<entry><title>{escape(story.title)}</title>"
        f'<link rel="alternate" type="text/html" href="{escape(story.path)}"/>'
        f"<id>tag:{story.key}</id><updated>{story.moment.isoformat()}</updated>"
        f"<summary>{escape(story.description)}</summary></entry>\n"
        for story in newest
    )
    return _feed(
        ATOM,
        newest,
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{issue.url(section.folder)}">\n'
        f"<title>{escape(section.title)} - {escape(issue.paper.title)}</title>\n"
        f"<id>{issue.url(path)}</id><updated>{newest[0].moment.isoformat()}</updated>\n"
        f'<link rel="self" type="{ATOM}" href="{path}"/>\n{entries}</feed>\n',
    )


def _feed(kind: str, newest: list[PaperStory], text: str) -> Served:
    return Served(
        (_START + text).encode(),
        f"{kind}; charset=utf-8",
        validators="both",
        modified=newest[0].moment,
    )

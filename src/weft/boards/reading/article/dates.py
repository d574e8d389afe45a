"""Finds when an article was published and changed.

What the page says to machines is trusted most: JSON-LD, meta tags, time elements. Pages without
any show the date near the title, so the date nearest to it is taken. At last comes the URL.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

import msgspec

from weft.boards.reading.article.datetext import Moment, read_date
from weft.boards.reading.article.linked import find_article, texts
from weft.boards.reading.article.region import Surroundings
from weft.boards.reading.article.relative import find_relative_date
from weft.boards.reading.article.shown import ShownDate, find_shown_dates
from weft.boards.reading.article.sitenames import host_of
from weft.boards.reading.page import Page

#: Meta tags with the day of publication, the most reliable first.
_PUBLISHED = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished",
    "article:published", "article.published", "published_time", "parsely-pub-date", "sailthru.date",
    "cxenseparse:recs:publishtime", "cxenseparse:publishtime", "publishdate", "publish-date",
    "publish_date", "publication_date", "publicationdate", "pubdate", "published-date", "published",
    "dc.date.issued", "dcterms.issued", "dc.date.created", "dcterms.created", "datecreated",
    "citation_publication_date", "citation_online_date", "citation_date", "originalpublicationdate",
    "weibo:article:create_at", "bytedance:published_time", "rnews:datepublished", "displaydate",
    "article_date_original", "release_date", "dc.date", "dcterms.date", "dc:date", "date",
    "article:post_date", "uploaddate", "created",
)  # fmt: skip
#: Meta tags with the day of the last change.
_MODIFIED = (
    "article:modified_time", "og:updated_time", "datemodified", "article:modified",
    "article.updated", "dc.date.modified", "dcterms.modified", "bytedance:updated_time",
    "weibo:article:update_at", "last-modified", "lastmod", "revised", "updated_time",
)  # fmt: skip

#: Names of meta tags that sites invented.
_LIKE_PUBLISHED = re.compile(
    r"publi[a-z]*[-_.:]?(?:date|time|at$|on$)|(?:date|time)[-_.:]?publi|pub-?_?date"
)
_LIKE_MODIFIED = re.compile(
    r"(?:modif|updat)[a-z]*[-_.:]?(?:date|time|at$|on$)|(?:date|time)[-_.:]?(?:modif|updat)"
)
_URL_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/_.]?([01]\d)[-/_.]?([0-3]\d)(?!\d)")
#: Countries whose English pages write the month first.
_MONTH_FIRST = ("en", "en-us", "en_us", "en-ph", "fil")
#: Ends of host names whose English pages write the day first.
_DAY_FIRST_HOSTS = (".uk", ".au", ".nz", ".ie", ".in", ".za", ".sg", ".my", ".ng", ".ke", ".eu")
#: "3 hours ago" counts only near the title: elsewhere it is about other pages.
RELATIVE_REACH = 150


class Dates(msgspec.Struct, frozen=True):
    """ISO strings: a day, with time and zone where the page gives them; empty if unknown."""

    published: str = ""
    modified: str = ""


class _Reader(NamedTuple):
    """How dates of a page are read, and which are possible."""

    day_first: bool
    latest: date

    def first(self, values: Iterable[str]) -> Moment | None:
        moments = (read_date(value, day_first=self.day_first) for value in values)
        return next((moment for moment in moments if moment and self.allows(moment)), None)

    def allows(self, moment: Moment) -> bool:
        return moment.day <= self.latest


def find_dates(
    page: Page, title: str, today: date | None = None, around: Surroundings | None = None
) -> Dates:
    """When the article was published and changed.

    `today` is the day at which the page is read: dates after the next day are none.
    `around` is what stands around the title, if somebody has it already.
    """
    latest = today + timedelta(days=1) if today else date.max
    reader = _Reader(is_day_first(page), latest)
    published, modified = _declared(page, reader)
    published = published or reader.first(_of_url(page.url))
    if not (published and published.clock):
        around = around or Surroundings(page, title)
        shown = find_shown_dates(around, day_first=reader.day_first)
        shown = [found for found in shown if reader.allows(found.moment)]
        if published:
            published = _with_clock(published, shown)
        else:
            published = _first_of(shown, is_update=False)
            modified = modified or _first_of(shown, is_update=True)
    published = published or modified
    if not published and today and around:
        day = find_relative_date(around.after.text[:RELATIVE_REACH], today)
        published = Moment(day) if day else None
    return Dates(published.iso if published else "", modified.iso if modified else "")


def _declared(page: Page, reader: _Reader) -> tuple[Moment | None, Moment | None]:
    """What the page tells machines."""
    article = find_article(page)
    published = ("datePublished", "dateCreated", "uploadDate")
    return (
        reader.first(text for name in published for text in texts(article.get(name)))
        or reader.first(_metas(page, _PUBLISHED, _LIKE_PUBLISHED)),
        reader.first(texts(article.get("dateModified")))
        or reader.first(_metas(page, _MODIFIED, _LIKE_MODIFIED)),
    )


def _metas(page: Page, names: Iterable[str], pattern: re.Pattern[str]) -> Iterator[str]:
    for name in names:
        yield from page.metas.get(name, ())
    for name, values in page.metas.items():
        if pattern.search(name):
            yield from values


def _first_of(found: Iterable[ShownDate], *, is_update: bool) -> Moment | None:
    return next((entry.moment for entry in found if entry.is_update == is_update), None)


def _with_clock(day: Moment, found: Iterable[ShownDate]) -> Moment:
    """The same day as the page shows it nearest to the title, perhaps with a time of day."""
    same = (entry for entry in found if entry.moment.day == day.day and not entry.is_update)
    nearest = min(same, key=lambda entry: entry.distance, default=None)
    return nearest.moment if nearest else day


def _of_url(url: str) -> list[str]:
    match = _URL_DAY.search(url)
    return ["-".join(match.groups())] if match else []


def is_day_first(page: Page) -> bool:
    """Whether 05/06 is the fifth of June here."""
    root = page.tree.root
    language = (root.attributes.get("lang") or "") if root else ""
    if language and language.lower() not in _MONTH_FIRST:
        return True
    return host_of(page.url).endswith(_DAY_FIRST_HOSTS)

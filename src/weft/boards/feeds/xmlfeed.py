"""Reads RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0. Feeds mix them, and so their rules are one."""

from collections.abc import Iterator

from weft.boards.feeds.addresses import absolute
from weft.boards.feeds.entries import collected, plain_title
from weft.boards.feeds.found import Feed, FeedEntry
from weft.boards.feeds.moments import read_moment
from weft.boards.feeds.records import RecordLayout, XmlPart, XmlRecord
from weft.boards.feeds.xmlfile import XmlFile

#: Where entries stand behind links that count clicks, this is where they lead.
_ORIGINALS = ("feedburner:origlink", "pheedo:origlink")
_LINKS = ("link", "atom:link")
#: The names of an entry's date, the best first.
_DATES = (
    "pubdate", "published", "atom:published", "dc:date", "dcterms:issued", "issued",
    "dcterms:created", "created", "date", "updated", "atom:updated", "modified", "dcterms:modified",
)  # fmt: skip
_TITLES = ("title", "dc:title", "atom:title")
_PERIODS = ("sy:updateperiod", "sy:updatefrequency")
_LAYOUT = RecordLayout(
    frozenset(("item", "entry")),
    frozenset((*_ORIGINALS, *_LINKS, *_DATES, *_TITLES, *_PERIODS, "guid", "id", "ttl")),
)
_ALTERNATE = ("", "alternate", "http://www.iana.org/assignments/relation/alternate")

_PERIOD_S = {
    "hourly": 3_600, "daily": 86_400, "weekly": 7 * 86_400, "monthly": 30 * 86_400,
    "yearly": 365 * 86_400,
}  # fmt: skip
#: No feed is believed to stay the same for longer.
MAX_TTL_S = 365 * 86_400


def read_xml_feed(text: str, start: int, url: str) -> Feed:
    """`start`: where the root is. Raises PageError if it is broken beyond use."""
    file = XmlFile(text, start, _LAYOUT, url)
    entries = collected(_entries(file))
    return Feed(entries, _ttl_s(file.head), _next(file.head, url))


def _entries(file: XmlFile) -> Iterator[FeedEntry]:
    for record in file:
        if url := _url_of(record):
            date = read_moment(record.text(*_DATES))
            yield FeedEntry(url, plain_title(record.text(*_TITLES)), date)


def _url_of(entry: XmlRecord) -> str:
    return next(filter(None, _candidates(entry)), "")


def _candidates(entry: XmlRecord) -> Iterator[str]:
    for part in entry.all(*_ORIGINALS):
        yield absolute("", part.text)
    for part in sorted(_alternates(entry), key=_is_of_machines):
        yield absolute(part.base, part.attributes.get("href") or part.text)
    for part in entry.all("guid"):
        if part.attributes.get("ispermalink", "").strip().lower() != "false":
            yield absolute("", part.text)
    yield absolute(entry.base, entry.attributes.get("about", ""))
    for part in entry.all("id"):
        yield absolute("", part.text)


def _alternates(entry: XmlRecord) -> Iterator[XmlPart]:
    """The links that lead to the entry, and not to what belongs to it."""
    for part in entry.all(*_LINKS):
        if _relation(part) in _ALTERNATE:
            yield part


def _is_of_machines(link: XmlPart) -> bool:
    """Whether a link leads to another form of an entry than its page."""
    kind = link.attributes.get("type", "").lower()
    return bool(kind) and "html" not in kind


def _relation(link: XmlPart) -> str:
    return link.attributes.get("rel", "").strip().lower()


def _next(head: XmlRecord, url: str) -> str:
    """Where RFC 5005 says that older entries are."""
    links = (part for part in head.all(*_LINKS) if _relation(part) == "next")
    found = (absolute(part.base, part.attributes.get("href", "")) for part in links)
    return next((each for each in found if each and each != url), "")


def _ttl_s(head: XmlRecord) -> int:
    """What RSS gives in minutes, or as so many times in a period."""
    if minutes := _number(head.text("ttl")):
        return min(60 * minutes, MAX_TTL_S)
    period_s = _PERIOD_S.get(head.text("sy:updateperiod").lower(), 0)
    return period_s // (_number(head.text("sy:updatefrequency")) or 1)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0

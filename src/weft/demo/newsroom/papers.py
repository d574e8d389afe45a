"""The three papers and their sections: what is printed where, and how its pages are made."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

#: The last edition; edition 0 is what is there at first.
LAST_EDITION = 3

#: What a client can ask with whether a page has changed.
Validators = Literal["both", "etag", "modified", "none"]
#: How an article says what it is.
Markup = Literal["linked", "metas", "shown", "marked", "undated", "app", "source", "report"]
#: How a list leads to its next page.
Pager = Literal["numbers", "next", "more", "arrows", "chinese", "none"]
#: How much of its moment of publication an article shows.
Shown = Literal["zone", "clock", "day", "nothing"]


class Section(NamedTuple):
    name: str
    title: str
    markup: Markup
    pager: Pager
    #: The address of a story, made of `slug`, `id` and `day`.
    path: str
    #: The address of the list pages after the first, made of the number of the page or of the
    #: stories before it; empty if there is but one page.
    list_path: str
    #: Stories that are there at first, and how many each edition adds.
    first: int
    added: int = 1
    per_page: int = 6
    shows: Shown = "clock"
    has_images: bool = False
    #: Its articles have versions for printers.
    has_prints: bool = False
    validators: Validators = "both"
    #: How its pages are encoded.
    encoding: str = "utf-8"
    #: What its pages say about that, in turn, and what the HTTP header says; empty: nothing.
    declared: tuple[str, ...] = ("utf-8",)
    header_charset: str = "utf-8"

    @property
    def folder(self) -> str:
        return f"/{self.name}/"

    @property
    def stories(self) -> int:
        """How many stories there are in the last edition."""
        return self.first + LAST_EDITION * self.added


class Paper(NamedTuple):
    name: str
    title: str
    language: str
    sections: tuple[Section, ...]
    authors: tuple[str, ...]

    def section(self, name: str) -> Section:
        return next(section for section in self.sections if section.name == name)


COURIER = Paper(
    name="courier",
    title="The Ellery Courier",
    language="en",
    sections=(
        Section(
            name="town",
            title="Town",
            markup="linked",
            pager="numbers",
            path="/town/{slug}-{id}.html",
            list_path="/town/page/{page}/",
            first=24,
            added=2,
            shows="zone",
            has_images=True,
        ),
        Section(
            name="business",
            title="Business",
            markup="metas",
            pager="next",
            path="/business/{day:%Y/%m}/{slug}/",
            list_path="/business/?page={page}",
            first=20,
            has_images=True,
            has_prints=True,
            validators="etag",
        ),
        Section(
            name="science",
            title="Science",
            markup="shown",
            pager="more",
            path="/science/article/{id}/{slug}",
            list_path="/science/?start={before}",
            first=20,
            shows="day",
            validators="modified",
        ),
        Section(
            name="sport",
            title="Sport",
            markup="marked",
            pager="arrows",
            path="/sport/{slug}.html",
            list_path="/sport/?p={page}",
            first=20,
            validators="none",
        ),
        Section(
            name="opinion",
            title="Opinion",
            markup="undated",
            pager="none",
            path="/opinion/{slug}",
            list_path="",
            first=5,
            added=0,
            shows="nothing",
        ),
        Section(
            name="live",
            title="Live",
            markup="app",
            pager="none",
            path="/live/{slug}",
            list_path="",
            first=6,
            per_page=20,
        ),
    ),
    authors=(
        *("Nell Farrow", "Tobias Wren", "Ada Lindgren", "Marcus Bell"),
        *("Ines Quayle", "Owen Hartley", "Greta Salt", "Priya Nair"),
    ),
)
EVENING = Paper(
    name="evening",
    title="云汐晚报",
    language="zh-CN",
    sections=(
        Section(
            name="city",
            title="本地",
            markup="source",
            pager="chinese",
            path="/city/{day:%Y%m%d}/{id}.shtml",
            list_path="/city/list_{page}.shtml",
            first=20,
            has_images=True,
            has_prints=True,
        ),
        Section(
            name="finance",
            title="财经",
            markup="source",
            pager="chinese",
            path="/finance/detail-{id}.html",
            list_path="/finance/index_{page}.html",
            first=20,
            encoding="gbk",
            declared=("gbk", "utf-8", ""),
            header_charset="",
        ),
        Section(
            name="culture",
            title="文化",
            markup="linked",
            pager="numbers",
            path="/culture/{day:%Y-%m/%d}/c_{id}.htm",
            list_path="/culture/?page={page}",
            first=20,
            added=0,
            shows="zone",
            has_images=True,
            header_charset="iso-8859-1",
        ),
    ),
    authors=("林知夏", "周慕白", "陈望舒", "许听澜", "沈一舟", "何清欢", "梁思远", "唐婉如"),
)
DIGEST = Paper(
    name="digest",
    title="The Ferry Digest",
    language="en",
    sections=(
        Section(
            name="press",
            title="Press review",
            markup="marked",
            pager="none",
            path="/press/{slug}.html",
            list_path="",
            first=3,
            per_page=10,
        ),
        Section(
            name="weather",
            title="Weather",
            markup="report",
            pager="next",
            path="/weather/{day:%Y-%m-%d}.html",
            list_path="/weather/?page={page}",
            first=20,
            shows="day",
        ),
        Section(
            name="markets",
            title="Markets",
            markup="report",
            pager="numbers",
            path="/markets/{day:%Y-%m-%d}.html",
            list_path="/markets/{page}/",
            first=20,
            shows="day",
        ),
    ),
    authors=("Lena Brock", "Samuel Trevane"),
)

PAPERS = (COURIER, EVENING, DIGEST)
BY_NAME: Mapping[str, Paper] = MappingProxyType({paper.name: paper for paper in PAPERS})

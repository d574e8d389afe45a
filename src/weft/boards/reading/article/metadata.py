# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""The metadata of an article page: all that is known about the article besides its text."""

import re
from collections.abc import Iterable
from datetime import date

import msgspec

from weft.boards.reading.article.authors import find_authors
from weft.boards.reading.article.dates import find_dates
from weft.boards.reading.article.languages import find_language
from weft.boards.reading.article.linked import find_article, first_text, texts
from weft.boards.reading.article.pictures import find_images
from weft.boards.reading.article.region import Surroundings
from weft.boards.reading.article.sitenames import find_publisher
from weft.boards.reading.article.titles import find_title
from weft.boards.reading.page import Page, find_own_site_name

_BETWEEN_TAGS = re.compile(r"\s*[,;，；、|]\s*")
#: Longer ones are sentences.
MAX_TAG = 60
MAX_TAGS = 30


class Metadata(msgspec.Struct, frozen=True):
    """Texts are empty where the page says nothing."""

    title: str = ""
    authors: tuple[str, ...] = ()
    #: ISO: a day, with time and time zone where the page gives them.
    published: str = ""
    modified: str = ""
    #: A tag such as "en" or "pt-BR".
    language: str = ""
    description: str = ""
    #: Absolute URLs, the main picture first.
    images: tuple[str, ...] = ()
    site_name: str = ""
    tags: tuple[str, ...] = ()


def find_metadata(page: Page, today: date | None = None) -> Metadata:
    """`today` is the day at which the page is read: dates after the next day are none."""
    title = page.once(find_title)
    around = Surroundings(page, title)
    dates = find_dates(page, title, today, around)
    return Metadata(
        title=title,
        authors=tuple(find_authors(page, around)),
        published=dates.published,
        modified=dates.modified,
        language=find_language(page),
        description=_description(page),
        images=find_images(page),
        site_name=_site_name(page),
        tags=_tags(page),
    )


def _description(page: Page) -> str:
    named = page.meta("og:description", "description", "twitter:description", "dc.description")
    return named or first_text(find_article(page).get("description"))


def _site_name(page: Page) -> str:
    return find_own_site_name(page) or find_publisher(page)


def _tags(page: Page) -> tuple[str, ...]:
    """What the article is about: `article:tag` has one each, the others have lists."""
    article = find_article(page)
    found = [*page.metas.get("article:tag", ()), *texts(article.get("keywords"))]
    found += [*page.metas.get("news_keywords", ()), *page.metas.get("keywords", ())]
    return tuple(_split_tags(found))[:MAX_TAGS]


def _split_tags(values: Iterable[str]) -> dict[str, None]:
    parts = (part.strip() for value in values for part in _BETWEEN_TAGS.split(value))
    return dict.fromkeys(part for part in parts if 0 < len(part) <= MAX_TAG)

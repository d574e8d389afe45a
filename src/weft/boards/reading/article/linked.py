"""The object of a page's JSON-LD that describes the article, and safe access to its values.

Pages put anything into JSON-LD: objects of other articles, lists where one value is meant, numbers
and nulls where text is meant. So everything is asked for by type.
"""

from collections.abc import Iterator
from typing import Any

from weft.boards.reading.article.texts import key
from weft.boards.reading.page import MAX_NESTING, Page, clean, find_headings, find_title_tag

#: Endings of the types that are articles: NewsArticle, BlogPosting, DiscussionForumPosting, Report.
_ARTICLES = ("article", "posting", "report")
#: Endings of what else a page can be about.
_THINGS = ("recipe", "question", "product", "podcastepisode", "review", "webpage", "videoobject")


def find_article(page: Page) -> dict[str, Any]:
    """The object about the page's article; empty if there is none.

    Of several articles it is the one whose headline the page shows as its title.
    """
    for endings in (_ARTICLES, _THINGS):
        found = [entry for entry in page.json_ld if _is_of_type(entry, endings)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = [key(text) for text in (find_title_tag(page), *find_headings(page))]
            return next((entry for entry in found if _is_shown(entry, shown)), found[0])
    return {}


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a value: itself, the entries of a list, the names of objects."""
    if depth > MAX_NESTING:
        return
    if isinstance(value, str):
        if text := clean(value):
            yield text
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry, depth + 1)
    elif isinstance(value, dict):
        yield from texts(value.get("name") or value.get("@value"), depth + 1)


def first_text(value: Any) -> str:
    return next(texts(value), "")


def resolved(page: Page, value: Any) -> Any:
    """The object that a mere reference means; anything else as it is."""
    name = value.get("@id") if isinstance(value, dict) and not value.get("name") else None
    if not isinstance(name, str):
        return value
    return next((e for e in page.json_ld if e.get("@id") == name and e.get("name")), None)


def types(entry: dict[str, Any]) -> list[str]:
    """The types of an object: it may have several."""
    value = entry.get("@type")
    values = value if isinstance(value, list) else [value]
    return [name for name in values if isinstance(name, str)]


def _is_of_type(entry: dict[str, Any], endings: tuple[str, ...]) -> bool:
    return any(name.lower().endswith(endings) for name in types(entry))


def _is_shown(entry: dict[str, Any], shown: list[str]) -> bool:
    headline = key(first_text(entry.get("headline") or entry.get("name")))
    return bool(headline) and any(headline in text for text in shown)

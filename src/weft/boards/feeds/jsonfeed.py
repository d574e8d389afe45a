"""Reads JSON Feed, 1.0 and 1.1."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from weft.boards.feeds.addresses import absolute
from weft.boards.feeds.entries import collected, plain_title
from weft.boards.feeds.found import Feed, FeedEntry
from weft.boards.feeds.kinds import is_json_feed
from weft.boards.feeds.moments import read_moment
from weft.errors import PageError


def read_json_feed(text: str, url: str) -> Feed:
    """Raises PageError if it is none."""
    if not is_json_feed(text):
        raise PageError("not read: JSON, but no JSON Feed")
    try:
        feed = json.loads(text.lstrip("\ufeff\0"), strict=False)
    except (ValueError, RecursionError) as error:
        raise PageError("not read: its JSON is broken") from error
    items = feed.get("items")
    if not isinstance(items, list):
        raise PageError("not read: a JSON Feed without items")
    entries = collected(_entries(items, url))
    older = absolute(url, _text(feed, "next_url"))
    return Feed(entries, next="" if older == url else older)


def _entries(items: list[Any], url: str) -> Iterator[FeedEntry]:
    for item in items:
        if isinstance(item, dict) and (found := _url_of(item, url)):
            date = _text(item, "date_published") or _text(item, "date_modified")
            yield FeedEntry(found, plain_title(_text(item, "title")), read_moment(date))


def _url_of(item: Mapping[str, Any], url: str) -> str:
    return (
        absolute(url, _text(item, "url"))
        or absolute(url, _text(item, "external_url"))
        or absolute("", _text(item, "id"))
    )


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""

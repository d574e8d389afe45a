"""What the entries of all kinds of feeds have in common."""

import re
from collections.abc import Iterable

from weft.boards.feeds.found import FeedEntry
from weft.boards.reading.page import MAX_TEXT, clean

#: More entries of a feed are ignored.
MAX_ENTRIES = 5_000

_TAG = re.compile(r"</?[A-Za-z][^<>]*+>")
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))


def collected(entries: Iterable[FeedEntry]) -> tuple[FeedEntry, ...]:
    """Each URL once, and not too many."""
    found: dict[str, FeedEntry] = {}
    for entry in entries:
        found.setdefault(entry.url, entry)
        if len(found) == MAX_ENTRIES:
            break
    return tuple(found.values())


def plain_title(title: str) -> str:
    """Without tags, which titles of feeds may have, and what cannot be stored."""
    title = _TAG.sub("", title[:MAX_TEXT]).translate(_CONTROL)
    return clean(title.encode("utf-8", "replace").decode())

"""Checks the work of a contestant: one item with the right title for every page."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Verdict(NamedTuple):
    missing: int = 0
    twice: int = 0
    #: Not pages of the site.
    foreign: int = 0
    #: With a wrong title.
    mistaken: int = 0
    #: Lines that are not items.
    unreadable: int = 0

    @property
    def is_right(self) -> bool:
        return not any(self)

    def __str__(self) -> str:
        named = zip(_NAMES, self, strict=True)
        faults = ", ".join(f"{number:,} {name}" for name, number in named if number)
        return f"WRONG: {faults}" if faults else "right"


_NAMES = ("missing", "twice", "of other sites", "with a wrong title", "unreadable")


def check(outputs: Iterable[Path], titles: Mapping[str, str]) -> Verdict:
    """Compare what was written with what is on the site."""
    seen: Counter[str] = Counter()
    mistaken = unreadable = 0
    for line in _lines(outputs):
        item = _item(line)
        if item is None:
            unreadable += 1
            continue
        url, title = item
        seen[url] += 1
        mistaken += url in titles and titles[url] != title
    own = seen.keys() & titles.keys()
    return Verdict(
        missing=len(titles) - len(own),
        twice=sum(seen[url] > 1 for url in own),
        foreign=len(seen) - len(own),
        mistaken=mistaken,
        unreadable=unreadable,
    )


def _lines(outputs: Iterable[Path]) -> Iterator[bytes]:
    for output in outputs:
        if output.exists():
            with output.open("rb") as lines:
                yield from lines


def _item(line: bytes) -> tuple[str, str] | None:
    try:
        item = json.loads(line)
        return str(item["url"]), str(item["title"])
    except (ValueError, KeyError, TypeError):
        return None

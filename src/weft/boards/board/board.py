"""What a board says, however its file was written."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from weft.boards.fields import NO_RULES, FieldRules

#: How many links away from an entry a page may be.
DEFAULT_DEPTH = 3
#: Time between two visits of a nav page, and the bounds within which it adapts.
DEFAULT_EVERY_MS = 3_600_000
DEFAULT_AT_LEAST_MS = 5 * 60_000
DEFAULT_AT_MOST_MS = 7 * 24 * 3_600_000

#: Of pages: rendered if they have no content without that.
AUTO: Literal["auto"] = "auto"
Rendering: TypeAlias = bool | Literal["auto"]

_Count: TypeAlias = Annotated[int, Meta(ge=1)]


class Refresh(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When nav pages are visited again: `at_least_ms` ≤ `every_ms` ≤ `at_most_ms`."""

    every_ms: int = DEFAULT_EVERY_MS
    at_least_ms: int = DEFAULT_AT_LEAST_MS
    at_most_ms: int = DEFAULT_AT_MOST_MS


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a crawl may take. None: what the crawl itself is set to."""

    pages: Annotated[_Count | None, Meta(description="At most this many pages; default: any.")] = (
        None
    )
    delay_s: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="Seconds between two requests to one host."),
    ] = msgspec.field(name="delay", default=None)
    concurrency: Annotated[
        _Count | None, Meta(description="Concurrent requests to one host; default: 8.")
    ] = None
    workers_per_host: Annotated[
        _Count | None,
        Meta(description="Workers that may fetch from one host concurrently; default: 1."),
    ] = None


class Board(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Entry pages, and what becomes of what they lead to. Plain data, which stores keep.

    Stored in a form in which an older Weft reads all boards but those that use what it does not
    know: defaults are left out, and unknown keys are refused.
    """

    name: str
    entries: tuple[str, ...]
    depth: int = DEFAULT_DEPTH
    #: Regular expressions of links to follow; none: all of the domains.
    follow: tuple[str, ...] = ()
    #: Regular expressions of the URLs of articles; none: pages are judged.
    articles: tuple[str, ...] = ()
    #: Host names; none: those of the entries.
    domains: tuple[str, ...] = ()
    refresh: Refresh = Refresh()
    #: Articles are fetched again after this time; None: never.
    update_after_ms: int | None = None
    limits: Limits = Limits()
    fields: FieldRules = NO_RULES
    #: Regular expressions of links that lead elsewhere; None: those that Weft knows.
    jumping_urls: tuple[str, ...] | None = None
    #: Query parameters to remove, besides those that Weft knows.
    tracking: tuple[str, ...] = ()
    browser: Rendering = False
    feeds: bool = True
    sitemaps: bool = True
    #: Where articles go, as `-o` takes it. May contain passwords.
    sinks: tuple[str, ...] = ()


class BoardSource(msgspec.Struct, frozen=True):
    """A board, and the text that it was read from."""

    board: Board
    #: With comments, and perhaps passwords.
    text: str


_DECODER = msgspec.json.Decoder(Board)


def pack_board(board: Board) -> str:
    """As JSON. Equal boards have equal texts."""
    return msgspec.json.encode(board).decode()


def unpack_board(packed: str | bytes) -> Board:
    """Raises msgspec.ValidationError for what an older Weft does not know."""
    return _DECODER.decode(packed)

"""How a board is written: the types of its file."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from weft.boards.board.board import AUTO, DEFAULT_DEPTH, Limits
from weft.boards.board.domains import domain_name
from weft.boards.board.durations import duration_ms, problem_of_duration
from weft.boards.board.patterns import problem_of_url_pattern
from weft.boards.fields import Fields
from weft.urls import host_key
from weft.yamlfile import Problem

#: Names are used in file names and keys.
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_PARAMETER = r"^[^\s&=?#]+$"

#: Tells what is wrong with the address of a sink; empty: nothing.
SinkCheck: TypeAlias = Callable[[str], str]

_sink_check: ContextVar[SinkCheck] = ContextVar("sink_check")


@contextmanager
def checking_sinks(check: SinkCheck) -> Iterator[None]:
    """Boards do not know which sinks there are; who reads them does."""
    token = _sink_check.set(check)
    try:
        yield
    finally:
        _sink_check.reset(token)


def problem_of_name(name: str) -> str:
    """Why a board cannot have this name; empty if it can."""
    if re.fullmatch(NAME, name):
        return ""
    return (
        "a board's name begins with a letter or digit, and has at most 64 letters (a to z), "
        "digits, -, _ and dots"
    )


def problem_of_entry(url: str) -> str:
    """Why a URL cannot be an entry; empty if it can."""
    scheme, mark, rest = url.partition("://")
    if not url.isprintable():
        return "there is a control character in this URL; remove it"
    if scheme.lower() not in ("http", "https") or not mark:
        bare = url.removeprefix("//")
        cure = f"write https://{bare}" if _is_host_and_path(bare) else "put it right"
        return f"a URL that begins with http:// or https:// is wanted; {cure}"
    if not host_key(url):
        return "this is no URL; put its host name right"
    if "@" in re.split(r"[/?#]", rest, maxsplit=1)[0]:
        return "a URL with a user or password would stand in every item; remove them"
    return ""


def _check_name(name: str) -> Iterator[Problem]:
    if problem := problem_of_name(name):
        yield Problem(problem)


def _check_entry(url: str) -> Iterator[Problem]:
    if problem := problem_of_entry(url):
        yield Problem(problem)


def _is_host_and_path(url: str) -> bool:
    """Whether only the scheme is missing, as far as one can see."""
    host = re.split(r"[/?#]", url, maxsplit=1)[0]
    return bool(re.fullmatch(r"[^:@]+(:[0-9]+)?", host) and host_key(f"http://{host}/"))


def _check_pattern(source: str) -> Iterator[Problem]:
    if problem := problem_of_url_pattern(source):
        yield Problem(problem)


def _check_domain(text: str) -> Iterator[Problem]:
    if domain_name(text):
        return
    below = text.removeprefix("*").removeprefix(".")
    meant = domain_name(below) or host_key(text) or host_key(f"http://{text}")
    cure = f"write {meant}: what is below it counts, too" if meant else "write one like example.org"
    yield Problem(f"a host name is wanted; {cure}")


def _check_parameter(name: str) -> Iterator[Problem]:
    if not re.fullmatch(_PARAMETER, name):
        yield Problem("the name of a query parameter is wanted, such as utm_source")


def _check_rendering(value: bool | str) -> Iterator[Problem]:
    if isinstance(value, str) and value != AUTO:
        yield Problem(f"true, false or {AUTO} is wanted, not {value}")


def _check_duration(value: str | float) -> Iterator[Problem]:
    if problem := problem_of_duration(value):
        yield Problem(problem)


def _check_sink(address: str) -> Iterator[Problem]:
    if problem := _sink_check.get()(address):
        yield Problem(problem)


#: A number is taken, too, to tell its author that it lacks a unit.
Duration = Annotated[str | int | float, Meta(extra={"check": _check_duration})]
EntryUrl = Annotated[str, Meta(extra={"check": _check_entry})]
UrlRegex = Annotated[
    str,
    Meta(extra={"check": _check_pattern}, extra_json_schema={"format": "regex"}, min_length=1),
]
Domain = Annotated[str, Meta(extra={"check": _check_domain})]
Parameter = Annotated[
    str, Meta(extra={"check": _check_parameter}, extra_json_schema={"pattern": _PARAMETER})
]
SinkAddress = Annotated[str, Meta(extra={"check": _check_sink}, min_length=1)]


class RefreshForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When lists are visited again."""

    every: (
        Annotated[Duration, Meta(description="Usually after this time; default: 1h.")] | UnsetType
    ) = UNSET
    at_least: (
        Annotated[
            Duration,
            Meta(description="Not sooner, however often a list has new articles; default: 5m."),
        ]
        | UnsetType
    ) = UNSET
    at_most: (
        Annotated[
            Duration,
            Meta(description="Not later, however rarely a list has new articles; default: 7d."),
        ]
        | UnsetType
    ) = UNSET


def _check_refresh(form: RefreshForm) -> Iterator[Problem]:
    given = [
        (name, value)
        for name in ("at_least", "every", "at_most")
        if (value := getattr(form, name)) is not UNSET
    ]
    for (name, value), (next_name, next_value) in pairwise(given):
        if duration_ms(value) > duration_ms(next_value):
            yield Problem(
                f"{next_name} ({next_value}) is shorter than {name} ({value}); "
                "make it longer, or swap them",
                next_name,
            )


def _filled(description: str, examples: list[object] | None = None) -> Meta:
    """Of a list that is not empty if it is there."""
    return Meta(description=description, min_length=1, examples=examples)


class BoardForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entry pages, and what becomes of what they lead to."""

    name: Annotated[
        str,
        Meta(
            description="What commands call this board: letters, digits, -, _ and dots.",
            extra={"check": _check_name},
            extra_json_schema={"pattern": NAME},
        ),
    ]
    entries: Annotated[
        tuple[EntryUrl, ...],
        _filled(
            "The URLs of the pages to begin with, such as a home page, a section or a feed.",
            [["https://example.org/news/"]],
        ),
    ]
    depth: Annotated[
        int,
        Meta(ge=0, description="How many links away from an entry a page may be; default: 3."),
    ] = DEFAULT_DEPTH
    follow: Annotated[
        tuple[UrlRegex, ...],
        _filled(
            "Regular expressions of links to follow, besides articles. Default: all links within "
            "the domains.",
            [["/news/"]],
        ),
    ] = ()
    articles: Annotated[
        tuple[UrlRegex, ...],
        _filled(
            "Regular expressions of the URLs of articles. Default: each page is judged by what it "
            "looks like.",
            [[r"/\d{4}/\d{2}/[\w-]+\.html$"]],
        ),
    ] = ()
    domains: Annotated[
        tuple[Domain, ...],
        _filled(
            "Host names whose pages are followed, with all names below them. Default: those of "
            "the entries.",
            [["example.org"]],
        ),
    ] = ()
    refresh: Annotated[
        RefreshForm,
        Meta(description="When lists are visited again.", extra={"check": _check_refresh}),
    ] = RefreshForm()
    update_after: (
        Annotated[
            Duration,
            Meta(description="Fetch articles again after this time. Default: never."),
        ]
        | UnsetType
    ) = UNSET
    limits: Annotated[Limits, Meta(description="What the crawl of this board may take.")] = Limits()
    fields: Fields = msgspec.field(default_factory=dict)
    jumping_urls: (
        Annotated[
            tuple[UrlRegex, ...],
            Meta(
                description="Regular expressions of links that only lead to the page that is "
                "meant, as those of search engines. Default: a list of well-known ones; [] for "
                "none.",
                examples=[[r"^https?://example\.org/out\?"]],
            ),
        ]
        | UnsetType
    ) = UNSET
    tracking: Annotated[
        tuple[Parameter, ...],
        _filled(
            "Query parameters to remove from links, besides the well-known ones.",
            [["from_section"]],
        ),
    ] = ()
    browser: Annotated[
        bool | str,
        Meta(
            description="Render pages in a browser: true, false, or auto for those that have no "
            "content without it. Default: false.",
            extra={"check": _check_rendering},
        ),
    ] = False
    feeds: Annotated[
        bool, Meta(description="Whether to use the feeds that a site announces; default: true.")
    ] = True
    sitemaps: Annotated[
        bool,
        Meta(description="Whether to use the sitemaps that a site announces; default: true."),
    ] = True
    sinks: Annotated[
        tuple[SinkAddress, ...],
        _filled(
            "Where articles go, as -o of weft crawl takes it. Default: where the crawl puts them.",
            [["news.jsonl"], ["mongodb://localhost/news/articles"]],
        ),
    ] = ()

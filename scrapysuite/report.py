"""The table of a run: by area, what passed and what did not."""

from collections import Counter
from collections.abc import Collection, Sequence
from fnmatch import fnmatch

from scrapysuite.verdicts import State, Verdicts, broken

#: Files by area. The first that fits counts.
AREAS = {
    "Weft's HTTP handler": ("test_weft_http.py",),
    "Weft's link extractor": ("test_weft_links.py",),
    "Commands": ("test_command*.py", "test_cmdline*", "test_contracts.py"),
    "Crawls, engine, start requests": (
        *("test_crawl*.py", "test_engine*.py", "test_core_*.py", "test_closespider.py"),
        *("test_request_*.py", "test_spider_start.py", "test_downloaderslotssettings.py"),
        "test_signals.py",
    ),
    "Scheduler, queues, dupefilter": (
        *("test_scheduler*.py", "test_*queues*.py", "test_dupefilters.py", "test_spiderstate.py"),
    ),
    "Scrapy's download handlers": (
        "test_downloader_handler*.py",
        "test_http2*",
        "test_resolver.py",
    ),
    "Downloader middlewares": ("test_downloadermiddleware*.py", "test_robotstxt*.py"),
    "Spider middlewares": ("test_spidermiddleware*.py",),
    "Spiders": ("test_spider*", "test_poet.py"),
    "Requests, responses, links, selectors": (
        *("test_http_*.py", "test_response*.py", "test_link*.py", "test_selector.py"),
    ),
    "Items, pipelines, feeds": (
        *("test_pipeline*.py", "test_feedexport*.py", "test_exporters.py", "test_item.py"),
        "test_loader.py",
    ),
    "Extensions, logs, statistics": (
        *("test_extension*.py", "test_log*.py", "test_stats.py", "test_mail.py"),
    ),
    "Settings and add-ons": ("test_settings*", "test_addons.py", "test_middleware.py"),
    "The rest": ("*",),
}

_HEADER = ("area", "tests", "passed", "skipped", "fail without Weft too", "fail with Weft only")


def make_table(on_weft: Verdicts, plain: Verdicts) -> str:
    """In Markdown, as docs/scrapy.md shows it."""
    ours = set(broken(on_weft, plain))
    rows = [
        (area, *_counts(tests, on_weft, ours)) for area, tests in _by_area(on_weft).items() if tests
    ]
    return _markdown([*rows, ("all", *_counts(list(on_weft), on_weft, ours))])


def _by_area(tests: Collection[str]) -> dict[str, list[str]]:
    areas: dict[str, list[str]] = {area: [] for area in AREAS}
    for test in tests:
        areas[_area(test)].append(test)
    return areas


def _area(test: str) -> str:
    name = test.partition("::")[0].removeprefix("tests/").partition("/")[0]
    return next(
        area for area, patterns in AREAS.items() if any(fnmatch(name, each) for each in patterns)
    )


def _counts(
    tests: Sequence[str], on_weft: Verdicts, ours: Collection[str]
) -> tuple[int, int, int, int, int]:
    states = Counter(on_weft[test].state for test in tests)
    only = sum(test in ours for test in tests)
    too = states[State.FAILED] - only
    return len(tests), states[State.PASSED], states[State.SKIPPED], too, only


def _markdown(rows: Sequence[tuple[str | int, ...]]) -> str:
    cells = [
        _HEADER,
        *([str(f"{cell:,}" if isinstance(cell, int) else cell) for cell in row] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        f"| {row[0]:{widths[0]}} | "
        + " | ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        + " |"
        for row in cells
    ]
    rule = (
        f"|{'-' * (widths[0] + 2)}|"
        + "|".join("-" * (width + 1) + ":" for width in widths[1:])
        + "|"
    )
    return "\n".join([lines[0], rule, *lines[1:]])

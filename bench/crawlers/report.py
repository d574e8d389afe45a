"""The results as a table that is also Markdown, and as JSON."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.table import Table

from bench.crawlers.limits import Limit, limits_of
from bench.crawlers.rows import NOT_INSTALLED, Row
from bench.crawlers.scenarios import Scenario

#: The contestants that the others are compared with, and the column headings.
_BESIDE = {
    "scrapy": "beside\nScrapy",
    "scrapy-redis-1": "beside\nscrapy-redis",
    "handwritten": "beside\nby hand",
}
NOTES = (
    "CPU: seconds for 1,000 pages, user and system, of all processes of the contestant, "
    "without start and end; these are measured with a site of one page and told apart",
    "pages/s: between the requests for the first page and for the last",
)
_PACKAGES = ("weft", "Scrapy", "scrapy-redis", "aiohttp", "selectolax")


class Result(NamedTuple):
    """A scenario that was run."""

    scenario: Scenario
    rows: Sequence[Row]

    @property
    def limits(self) -> list[Limit]:
        return limits_of(self.scenario.name, self.rows)

    @property
    def is_right(self) -> bool:
        """Whether every installed contestant fetched every page."""
        return all(row.has_figures or row.fault == NOT_INSTALLED for row in self.rows)


def header(*notes: str) -> str:
    """When, where and with what it was measured, and notes on the figures."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    lines = (
        f"{datetime.now(UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores (load {load}), "
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}, {', '.join(_versions())}",
        *notes,
    )
    return "\n".join(f"* {line}" for line in lines)


def make_table(result: Result) -> Table:
    table = Table(box=box.MARKDOWN)
    table.add_column(result.scenario.name)
    for name in _heads(result):
        table.add_column(name, justify="right")
    by_name = {row.name: row for row in result.rows if row.has_figures}
    for row in result.rows:
        table.add_row(_label(row, result), *_cells(row, by_name, result))
    return table


def as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    return [
        {
            "site": result.scenario.name,
            "about": result.scenario.about,
            "pace": result.scenario.pace._asdict(),
            "rows": [row._asdict() for row in result.rows],
            "limits": [limit._asdict() | {"is_kept": limit.is_kept} for limit in result.limits],
        }
        for result in results
    ]


def _label(row: Row, result: Result) -> str:
    return f"{row.label}, {row.pages:,} pages" if _has_sizes(result) else row.label


def _has_sizes(result: Result) -> bool:
    return len(result.scenario.sites) > 1


def _heads(result: Result) -> Iterator[str]:
    if result.scenario.is_start:
        yield from ("start and\nend, CPU s", _BESIDE["scrapy"], "peak MB", "pages")
        return
    yield from ("CPU s", "CPU s\nof Redis", "start and\nend, CPU s", "pages/s", "peak MB")
    if _has_sizes(result):
        yield from ("MB at\n10 %", "MB at\n100 %")
    elif result.scenario.pace.delay_s:
        yield "of what is\nallowed"
    else:
        yield from _BESIDE.values()
    yield "pages"


def _cells(row: Row, by_name: Mapping[str, Row], result: Result) -> Iterator[str]:
    if not row.has_figures:
        yield from [""] * (len(list(_heads(result))) - 1)
        yield row.fault
        return
    if result.scenario.is_start:
        yield from (f"{row.start_cpu_s:.2f}", _ratio(row, by_name.get("scrapy")))
        yield f"{row.peak_bytes / 1e6:,.0f}"
    else:
        yield f"{row.cpu_ms:.2f}"
        yield f"{row.redis_cpu_ms:.2f}" if row.redis_cpu_ms > 0 else ""
        yield f"{row.start_cpu_s:.2f}"
        yield f"{row.pages_per_s:,.0f}"
        yield f"{row.peak_bytes / 1e6:,.0f}"
        yield from _special_cells(row, by_name, result)
    yield f"all {row.pages:,}" if not row.extra_requests else f"{row.extra_requests:+,} requests"


def _special_cells(row: Row, by_name: Mapping[str, Row], result: Result) -> Iterator[str]:
    if _has_sizes(result):
        yield from (f"{used / 1e6:,.0f}" for used in (row.early_bytes, row.late_bytes))
    elif result.scenario.pace.delay_s:
        yield f"{row.polite_share:.0%}"
    else:
        yield from (_ratio(row, by_name.get(name)) for name in _BESIDE)


def _ratio(row: Row, other: Row | None) -> str:
    if other is None or other.cpu_ms <= 0:
        return ""
    return f"{row.cpu_ms / other.cpu_ms:.3f}"


def _versions() -> Iterator[str]:
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except ImportError:
            continue


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()

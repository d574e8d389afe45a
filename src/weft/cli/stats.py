"""`weft stats`: what a job has crawled, by day and hour.

The store counts by the hours of UTC. They are told in local time; an hour that two local days
share, where the clock is half an hour off, belongs to the day in which it begins.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.cli.frontier import AsJson, JobName, StoreUrl, find_job
from weft.cli.output import results, say, show
from weft.cli.store import ask, place_of
from weft.frontier import Frontier
from weft.records import Hour


class Span(StrEnum):
    DAY = "day"
    HOUR = "hour"


class Period(msgspec.Struct, frozen=True):
    """What was finished on a day, within an hour, or in all of them."""

    #: As local time, with its offset.
    start: str
    pages: int
    items: int
    failed: int
    #: From the first to the last page of each hour.
    pages_per_s: float


def stats(
    job: JobName = None,
    store: StoreUrl = None,
    by: Annotated[Span, typer.Option(help="What to add up.")] = Span.DAY,
    last: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Only the last N days or hours in which something was finished.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Pages, items and failures of a job by day or hour, in local time.

    Works while the crawl is running. A page counts once, when it is finished, with its items.
    """

    async def look(frontier: Frontier) -> list[Hour]:
        return await frontier.hours()

    place, name = find_job(job, store)
    groups = _group(ask(place, name, look), by)[-(last or 0) :]
    periods = [_add_up(group, by) for group in groups]
    everything = [hour for group in groups for hour in group]
    total = _add_up(everything, by) if everything else None
    if as_json:
        told = {"by": by, "periods": periods, "total": total}
        results.print_json(msgspec.json.encode(told).decode())
    elif total is None:
        say(f"Nothing was finished yet: {place_of(place, name)}.")
    else:
        show(_table(periods, total, by))


def _group(hours: Iterable[Hour], by: Span) -> list[list[Hour]]:
    """The hours of each period, in order."""
    groups: dict[datetime, list[Hour]] = {}
    for hour in hours:
        groups.setdefault(_start(hour.start_ms, by), []).append(hour)
    return list(groups.values())


def _start(at_ms: int, by: Span) -> datetime:
    at = datetime.fromtimestamp(at_ms / 1000).astimezone()
    if by is Span.HOUR:
        return at
    # Once more into local time, for its offset may change during a day.
    return at.replace(hour=0, minute=0, tzinfo=None).astimezone()


def _add_up(hours: Sequence[Hour], by: Span) -> Period:
    pages = sum(hour.pages for hour in hours)
    busy_ms = sum(hour.last_at_ms - hour.first_at_ms for hour in hours)
    return Period(
        start=_start(hours[0].start_ms, by).isoformat(timespec="minutes"),
        pages=pages,
        items=sum(hour.items for hour in hours),
        failed=sum(hour.failed for hour in hours),
        pages_per_s=round(pages / max(1.0, busy_ms / 1000), 3),
    )


def _table(periods: Sequence[Period], total: Period, by: Span) -> Table:
    table = Table(by.value, box=SIMPLE_HEAD)
    for name in ("pages", "items", "failed", "pages/s"):
        table.add_column(name, justify="right")
    for period in periods:
        table.add_row(_tell_start(period, by), *_tell_numbers(period))
    table.add_section()
    table.add_row("total", *_tell_numbers(total))
    return table


def _tell_start(period: Period, by: Span) -> str:
    start = datetime.fromisoformat(period.start)
    offset = f"{start:%z}"
    form = "%Y-%m-%d %H:%M" if by is Span.HOUR else "%Y-%m-%d"
    return f"{start:{form}} UTC{offset[:3]}:{offset[3:5]}"


def _tell_numbers(period: Period) -> list[str]:
    numbers = (period.pages, period.items, period.failed)
    return [*(f"{number:,}" for number in numbers), f"{period.pages_per_s:,.2f}"]

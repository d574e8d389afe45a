"""What a job has crawled, by day and hour.

The store counts by hour of UTC. Results are in local time; an hour that spans two local days, where
the offset is half an hour, belongs to the day in which it begins.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from weft.frontier import JobHome
from weft.records import Hour
from weft.services.frontiers import count_hours


class Span(StrEnum):
    DAY = "day"
    HOUR = "hour"


class StatsPeriod(msgspec.Struct, frozen=True):
    """What was finished on a day, within an hour, or in all of them."""

    #: In local time, with its offset.
    start: str
    pages: int
    items: int
    failed: int
    #: From the first to the last page of each hour.
    pages_per_s: float


class StatsReport(msgspec.Struct, frozen=True):
    by: Span
    periods: list[StatsPeriod]
    #: None: nothing was finished yet.
    total: StatsPeriod | None


async def count_pages(home: JobHome, by: Span, last: int | None = None) -> StatsReport:
    """`last`: only that many of the last days or hours in which something was finished."""
    groups = _group(await count_hours(home), by)[-(last or 0) :]
    everything = [hour for group in groups for hour in group]
    return StatsReport(
        by,
        [_add_up(group, by) for group in groups],
        _add_up(everything, by) if everything else None,
    )


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
    # Convert to local time again, because the offset may change during a day.
    return at.replace(hour=0, minute=0, tzinfo=None).astimezone()


def _add_up(hours: Sequence[Hour], by: Span) -> StatsPeriod:
    pages = sum(hour.pages for hour in hours)
    busy_ms = sum(hour.last_at_ms - hour.first_at_ms for hour in hours)
    return StatsPeriod(
        start=_start(hours[0].start_ms, by).isoformat(timespec="minutes"),
        pages=pages,
        items=sum(hour.items for hour in hours),
        failed=sum(hour.failed for hour in hours),
        pages_per_s=round(pages / max(1.0, busy_ms / 1000), 3),
    )

# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Reads dates as people and machines write them."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import NamedTuple

from weft.boards.reading.article.datewords import MONTHS, ZONES
from weft.boards.reading.article.eastern import with_plain_dates

#: No page of the web is older.
FIRST_YEAR = 1995
#: Thai years count from here.
BUDDHIST_ERA = 543

_YEAR = r"(?P<y>(?:19|20|25)\d\d)"
_ANY_YEAR = re.compile(r"(?:19|20|25)\d\d(?!\d)")
_MONTH = r"(?P<m>\d{1,2})"
_DAY = r"(?P<d>\d{1,2})"
_NAME = r"(?P<name>[^\s\d,/:;()|<>–-]{3,14}?)"
_OF = r"(?:de |del |of |di |da |do |ng |d['’])?"
#: The ways to write a day. Where the order of numbers is not known, they are named a and b.
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\d.]){_YEAR}\s?(?P<mark>[-/.年년‐])\s?{_MONTH}\s?[-/.月월‐]\s?{_DAY}(?![\d%])",
        rf"(?<![\d.,])(?P<a>\d{{1,2}})(?P<mark>[-/.])\s?(?P<b>\d{{1,2}})(?P=mark)\s?{_YEAR}(?!\d)",
        rf"(?<![\d.,]){_DAY}(?:st|nd|rd|th|er|\.|º|-)?[\s-]*{_OF}{_NAME}[.,]?[\s-]*{_OF}{_YEAR}(?!\d)",
        rf"(?<!\w){_NAME}\.?\s{{0,2}}{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}(?!\d)",
        rf"(?<![\d.]){_YEAR}\.?[ \xa0]+(?:m\. )?{_NAME}[ \xa0]+{_DAY}(?!\d)",
        rf"(?<!\d){_DAY}\s+tháng\s+{_MONTH}\s*(?:,|năm)?\s+{_YEAR}",
    )
)
_ZONE = (
    r"(?P<zone>z\b|[+-]\d\d:?\d\d|\(?(?:utc|gmt)\s?(?:[+-]\d{1,2}(?::?\d\d)?)?|[a-zмск]{3,4}\b)?"
)
_CLOCK = (
    r"(?P<noon>上午|下午|午前|午後|오전|오후)?\s?(?P<h>[01]?\d|2[0-3])\s?[:.h時时点點시]\s?(?P<min>[0-5]\d)(?!\d)"
    r"(?:[:分](?P<s>[0-5]\d)(?:[.,]\d+)?)?\s?(?P<half>[ap]\.?m\b\.?)?\s*" + _ZONE
)
_AFTERNOON = ("p", "下午", "午後", "오후")
#: Where a time of day may stand: right after a date, or right before it.
_AFTER = re.compile(
    r"(?:[日일號号]|г\.)?(?:\s*\(?(?:星期|周|[월화수목금토일]요?일?|[月火水木金土日]).?\)?)?"
    r"[\s,|·•/–—-]*(?:t|at|um|à|às|a las|ore|kl|o|om|alle|@|в|о|klo|lúc|as|saat)?[.\s-]*" + _CLOCK,
    re.IGNORECASE,
)
_BEFORE = re.compile(
    _CLOCK + r"[\s,|·•–—-]*(?:on|,|ngày)?\s*(?:[^\W\d]{2,10}\.?,?\s+)?$", re.IGNORECASE
)
#: How many characters around a date are searched for a time of day.
REACH = 40

_EPOCH = re.compile(r"1\d{9}(?:\d{3})?(?:\.\d+)?")
_COMPACT = re.compile(r"((?:19|20)\d\d)([01]\d)([0-3]\d)(?:T?([0-2]\d)([0-5]\d)([0-5]\d)?Z?)?")


class Moment(NamedTuple):
    """A day, and the time of day and zone if they are known."""

    day: date
    #: "T12:30:00+08:00", or empty.
    clock: str = ""

    @property
    def iso(self) -> str:
        return self.day.isoformat() + self.clock


class FoundDate(NamedTuple):
    """A date in a text, and where it stands."""

    moment: Moment
    start: int
    end: int


def read_date(text: str, *, day_first: bool = True) -> Moment | None:
    """The date in the value of a tag."""
    text = with_plain_dates(text.strip())
    if _EPOCH.fullmatch(text):
        return _of_epoch(float(text))
    if match := _COMPACT.fullmatch(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        clock = f"T{hour:02}:{minute:02}:{second:02}" if match[4] else ""
        return _moment(year, month, day, clock)
    found = next(find_dates_in(text[: 3 * REACH], day_first=day_first), None)
    return found.moment if found else None


def find_dates_in(text: str, *, day_first: bool = True) -> Iterator[FoundDate]:
    """All dates in a text, in their order."""
    found = [entry for span in _spans(text) for entry in _matches(text, span, day_first)]
    found.sort(key=lambda entry: entry.start)
    end = 0
    for entry in found:
        if entry.start >= end:
            yield entry
            end = entry.end


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text around years: only there can dates be, and the patterns are slow."""
    start = end = -1
    for match in _ANY_YEAR.finditer(text):
        if match.start() - REACH > end and end >= 0:
            yield start, end
            start = -1
        start = max(0, match.start() - REACH) if start < 0 else start
        end = match.end() + REACH
    if end >= 0:
        yield start, end


def _matches(text: str, span: tuple[int, int], day_first: bool) -> Iterator[FoundDate]:
    for match in (match for form in _FORMS for match in form.finditer(text, *span)):
        numbers = _numbers(match, day_first)
        clock = _clock(text, match) if numbers else ""
        moment = _moment(*numbers, clock) if numbers else None
        if moment:
            yield FoundDate(moment, match.start(), match.end())


def _numbers(match: re.Match[str], day_first: bool) -> tuple[int, int, int] | None:
    groups = match.groupdict()
    year = int(groups["y"])
    if "a" in groups:
        first, second = int(groups["a"]), int(groups["b"])
        is_day_first = first > 12 or (second <= 12 and (day_first or groups["mark"] == "."))
        return (year, second, first) if is_day_first else (year, first, second)
    month = (
        MONTHS.get(groups["name"].lower().rstrip("."), 0) if "name" in groups else int(groups["m"])
    )
    return (year, month, int(groups["d"])) if month else None


def _moment(year: int, month: int, day: int, clock: str) -> Moment | None:
    if year >= FIRST_YEAR + BUDDHIST_ERA:
        year -= BUDDHIST_ERA
    try:
        return Moment(date(year, month, day), clock) if year >= FIRST_YEAR else None
    except ValueError:
        return None


def _of_epoch(seconds: float) -> Moment | None:
    if seconds > 1e11:
        seconds /= 1000
    at = datetime.fromtimestamp(seconds, UTC)
    return Moment(at.date(), at.strftime("T%H:%M:%S+00:00")) if at.year >= FIRST_YEAR else None


def _clock(text: str, match: re.Match[str]) -> str:
    """The time of day beside a date, as ISO has it; empty if there is none."""
    found = _AFTER.match(text, match.end(), match.end() + REACH)
    if not found:
        found = _BEFORE.search(text, max(0, match.start() - REACH), match.start())
    return _iso_clock(found) if found else ""


def _iso_clock(match: re.Match[str]) -> str:
    hour = int(match["h"])
    half = match["noon"] or (match["half"] or "").lower()[:1]
    if half and hour <= 12:
        hour = hour % 12 + (12 if half in _AFTERNOON else 0)
    minute, second = int(match["min"]), int(match["s"] or 0)
    return f"T{hour:02}:{minute:02}:{second:02}{_iso_zone(match['zone'] or '')}"


def _iso_zone(text: str) -> str:
    text = text.lower().strip("( ")
    match = re.fullmatch(r"(?:utc|gmt)?\s?([+-])(\d{1,2}):?(\d\d)?", text)
    if match:
        return f"{match[1]}{int(match[2]):02}:{match[3] or '00'}"
    if text not in ZONES:
        return ""
    minutes = timedelta(hours=ZONES[text])
    return str(timezone(minutes)).removeprefix("UTC") or "+00:00"

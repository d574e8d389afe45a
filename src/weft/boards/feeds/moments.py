"""Dates of feeds and sitemaps."""

from datetime import datetime
from email.utils import parsedate_to_datetime

from weft.boards.reading.article.datetext import FIRST_YEAR, read_date

#: Longer texts are cut: no date is longer.
MAX_DATE = 50


def read_moment(text: str) -> str:
    """A date as ISO has it, with time and zone if they are given; empty if it is none."""
    text = text.strip()[:MAX_DATE]
    if not text:
        return ""
    return _of_machines(text) or _of_people(text) or _of_mail(text)


def _of_machines(text: str) -> str:
    """As the standards of Atom, JSON Feed and sitemaps want it: most are, and this is fast."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    if moment.year < FIRST_YEAR:
        return ""
    is_day = not any(mark in text for mark in "T :")
    return moment.date().isoformat() if is_day else _iso(moment)


def _of_people(text: str) -> str:
    moment = read_date(text)
    return moment.iso if moment else ""


def _of_mail(text: str) -> str:
    """As RSS wants it: years may have two digits."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return _iso(moment) if moment.year >= FIRST_YEAR else ""


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")

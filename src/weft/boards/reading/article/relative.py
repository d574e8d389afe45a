"""Reads how long ago something was: "3 hours ago", 昨天 12:30."""

import re
from datetime import date, timedelta

#: Days in a unit of time. What is shorter than a day was today, as far as one can tell.
_UNITS = {
    "second": 0, "minute": 0, "min": 0, "hour": 0, "hr": 0, "day": 1, "week": 7, "month": 30,
    "year": 365, "秒": 0, "分钟": 0, "分鐘": 0, "小时": 0, "小時": 0, "天": 1, "日": 1, "周": 7,
    "週": 7, "个月": 30, "個月": 30, "年": 365,
}  # fmt: skip
_NUMBER = r"(?P<number>\d{1,3}|an?|one)"
_AGO = re.compile(
    rf"(?:^|\n|\b){_NUMBER}\s?(?P<unit>{'|'.join(_UNITS)})s?\s?(?:ago\b|之?前)", re.IGNORECASE
)
_NAMED = re.compile(r"(?:^|\n)\W{0,3}(?P<name>yesterday|昨天|昨日|前天)", re.IGNORECASE)


def find_relative_date(text: str, today: date) -> date | None:
    """The first day that a text gives by its distance from today."""
    if match := _AGO.search(text):
        number = int(match["number"]) if match["number"].isdigit() else 1
        return today - timedelta(days=number * _UNITS[match["unit"].lower()])
    if match := _NAMED.search(text):
        return today - timedelta(days=2 if match["name"] == "前天" else 1)
    return None

"""Parses times given by users: a day, a time of day, or how long ago."""

import re
from datetime import datetime

from weft.errors import ConfigError

_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 24 * 3_600_000}
_AGO = re.compile(r"(\d{1,9})([mhd])")


def parse_moment(text: str, now_ms: int) -> int:
    """Return milliseconds since 1970; a time without an offset is local. Raises ConfigError."""
    if ago := _AGO.fullmatch(text):
        return now_ms - int(ago[1]) * _UNITS_MS[ago[2]]
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as problem:
        raise ConfigError(
            f"{text!r} is not a date or time; write a day like 2026-11-01, a time like "
            "2026-11-01T12:00, or how long ago: 30m, 3h, 2d"
        ) from problem

"""Durations as people write them: `90s`, `30m`, `6h`, `7d`, `2w`."""

import re

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
#: For the JSON Schema, too.
DURATION = r"^[0-9]{1,9} ?[smhdw]$"
#: Longer is a mistake.
MAX_MS = 10 * 366 * 86_400_000

_EXAMPLES = "30m, 6h or 7d"


def duration_ms(text: str) -> int:
    """Of a text without a problem."""
    return int(text[:-1]) * _UNITS_MS[text[-1]]


def problem_of_duration(value: str | float) -> str:
    """Why it is no duration; empty if it is one."""
    text = str(value)
    if re.fullmatch(r"[0-9.]+", text):
        return f"{text} lacks a unit; write {text}s for seconds, or as in {_EXAMPLES}"
    if not re.fullmatch(DURATION, text):
        return f"this is no duration; write a whole number and s, m, h, d or w, as in {_EXAMPLES}"
    ms = duration_ms(text)
    if not 0 < ms <= MAX_MS:
        return f"a duration is longer than nothing and shorter than ten years, as in {_EXAMPLES}"
    return ""


def shown_duration(ms: int) -> str:
    """In the largest unit that divides it."""
    unit, size = next(
        (unit, size) for unit, size in reversed(_UNITS_MS.items()) if ms % size == 0 or unit == "s"
    )
    return f"{ms // size}{unit}"

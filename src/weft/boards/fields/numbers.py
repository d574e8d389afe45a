"""Reads numbers as people write them: 1,234.50 or 1.234,50 or 1 234,5."""

import re

#: Spaces and apostrophes between digits are between thousands.
_NUMBER = re.compile("([-\u2212\u2013]?)(\\d+(?:[.,\u066b\u066c' \u00a0\u2009\u202f\u2019]\\d+)*)")
_SPACES = re.compile("['\\s\u2019]")
#: More digits are not exact in any store.
MAX_DIGITS = 15
#: As many digits follow each sign between thousands.
GROUP = 3


def read_number(text: str, decimal: str = "") -> int | float | None:
    """The first number of a text.

    `decimal` is the sign before the decimals. Without it, it is told by where signs stand: "1,5" is
    one and a half, "1,500" is 1500, and "1.500" is one and a half.
    """
    match = _NUMBER.search(text)
    if not match:
        return None
    digits = _without_rest(match[2])
    whole, fraction = _split(digits, decimal or _decimal_sign(digits))
    if len(whole) + len(fraction) > MAX_DIGITS:
        return None
    sign = -1 if match[1] and not text[: match.start()][-1:].isalnum() else 1
    return sign * (float(f"{whole}.{fraction}") if fraction else int(whole))


def _without_rest(digits: str) -> str:
    """Up to a space after which no thousands follow: "3 10" are two numbers."""
    parts = _SPACES.split(digits)
    kept = [parts[0]]
    for part in parts[1:]:
        leading = re.match(r"\d+", part)
        if leading is None or len(leading[0]) != GROUP or len(kept[0]) > GROUP:
            break
        kept.append(part)
    return "".join(kept)


def _split(digits: str, decimal: str) -> tuple[str, str]:
    whole, _, fraction = digits.partition(decimal) if decimal else (digits, "", "")
    return re.sub(r"\D", "", whole), re.sub(r"\D.*", "", fraction)


def _decimal_sign(digits: str) -> str:
    """Empty if there are no decimals."""
    signs = [sign for sign in digits if not sign.isdigit()]
    if not signs:
        return ""
    last = signs[-1]
    if signs.count(last) > 1:
        return ""
    is_group = len(digits.rpartition(last)[2]) == GROUP
    return "" if last == "," and is_group and len(signs) == 1 else last

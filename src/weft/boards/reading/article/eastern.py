# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Writes the dates of Chinese and Japanese texts as all others are written.

二〇〇五年三月七日, 民國94年3月7日, ２００５年３月７日 and, in a text with Chinese characters,
05-03-07 all become dates with a year of four digits.
"""

import re

_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")}
_DIGITS |= {"〇": 0, "○": 0, "元": 1}
_NUMERALS = "".join(_DIGITS) + "十廿卅"
_HAN = re.compile("[\u4e00-\u9fff]")
_WIDE = re.compile("[０-９]")
#: Wide digits, and the wide signs between them.
_NARROW = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in "０１２３４５６７８９／－．："}
_IN_WORDS = re.compile(
    rf"(?P<y>[{_NUMERALS}]{{2,4}})年(?P<m>[{_NUMERALS}]{{1,3}})月(?P<d>[{_NUMERALS}]{{1,3}})[日号號]"
)
#: The years that are counted from the beginning of an era, and what is added to them.
_ERAS = {"民國": 1911, "民国": 1911, "平成": 1988, "令和": 2018}
_OF_ERA = re.compile(rf"(?P<era>{'|'.join(_ERAS)})\s?(?P<y>\d{{1,3}}|元)\s?(?P<mark>[年/.-])")
#: A year of two digits counts only where nothing else can be meant: at the end of a line, or before
#: a time of day.
_SHORT = re.compile(
    r"(?<![\w./:-])(\d\d)([-/.])([01]?\d)\2([0-3]?\d)(?=\s*(?:[)\]）】\n]|\d?\d:\d\d|$))"
)
#: Two digits of the years that are not of this century.
OLD_YEARS = range(90, 100)


def with_plain_dates(text: str) -> str:
    """The same text; most texts have nothing to change."""
    if not _HAN.search(text):
        return text
    if _WIDE.search(text):
        text = text.translate(_NARROW)
    text = _IN_WORDS.sub(_without_words, text)
    text = _OF_ERA.sub(_without_era, text)
    return _SHORT.sub(_with_century, text)


def _without_words(match: re.Match[str]) -> str:
    return f"{_number(match['y'])}年{_number(match['m'])}月{_number(match['d'])}日"


def _number(text: str) -> int:
    """三 is 3, 三十一 is 31, 二〇〇五 is 2005."""
    text = text.replace("廿", "二十").replace("卅", "三十")
    tens, ten, ones = text.rpartition("十")
    value = 10 * (_number(tens) if tens else 1) if ten else 0
    digits = [_DIGITS[sign] for sign in ones if sign in _DIGITS]
    return value + int("".join(map(str, digits)) or 0)


def _without_era(match: re.Match[str]) -> str:
    year = 1 if match["y"] == "元" else int(match["y"])
    return f"{_ERAS[match['era']] + year}{match['mark']}"


def _with_century(match: re.Match[str]) -> str:
    century = 19 if int(match[1]) in OLD_YEARS else 20
    return f"{century}{match[1]}-{match[3]}-{match[4]}"

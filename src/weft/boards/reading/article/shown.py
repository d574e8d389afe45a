# ruff: noqa: RUF001 (letters of other scripts are meant)
"""Finds the dates that a page shows its readers near the title."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from weft.boards.reading.article.datetext import Moment, find_dates_in, read_date
from weft.boards.reading.article.eastern import with_plain_dates
from weft.boards.reading.article.region import Region, Surroundings

#: Before a date that is not the day of publication.
_UPDATED = re.compile(
    r"(?:updat|modif|edited|revis|reviewed|aktualis|actuali|mis à jour|aggiorn|atualiz|обновл"
    r"|gewijzigd|更新|修改|최종|수정|güncel)[^\n\d]{0,25}\n?[^\n\d]{0,12}$",
    re.IGNORECASE,
)
#: Before a date that is.
_ISSUED = re.compile(
    r"(?:publi|posted|veröffent|опубл|发布|發布|发表|發表|时间|時間|日期|公開|입력|등록|yayın)"
    r"[^\n\d]{0,20}\n?[^\n\d]{0,8}$",
    re.IGNORECASE,
)
#: Before a date that is not of the article: today's in the header, and that of the site's rights.
_OF_SITE = re.compile(
    r"(?:今天|今日|现在|現在|北京时间|today is|版权|版權|copyright|©)[^\n\d]{0,12}$", re.IGNORECASE
)
#: After a date in the header: many Chinese pages show the day of reading there.
_WEEKDAY = re.compile(r"日?\s{0,3}\(?(?:星期|周|週)[一二三四五六日天]")
#: Signs of a Chinese sentence.
_SENTENCE = re.compile("[，。；！？]")
#: A line that says what the next line is.
_LABEL_LINE = re.compile(
    r"(?:^|\n)(?:date|datum|fecha|data|dato|дата|日期|时间)\W{0,3}\n$", re.IGNORECASE
)
#: Attributes that say what a time element is.
_UPDATE_MARK = re.compile(r"modif|updat", re.IGNORECASE)
#: How far before a date a label may stand.
LABEL_REACH = 40
#: A date without a label, a time of day, or an attribute for machines, must be that many characters
#: nearer to the title to be taken instead.
LABEL_WORTH = 300
CLOCK_WORTH = 150
MACHINE_WORTH = 300
#: A date in a longer line is in a sentence, not beside a title.
LINE_LENGTH = 60
#: How many signs may stand in a line with a date that is alone: brackets, or its last sign.
ALONE_SIGNS = 3
#: What stands before the title counts as so much farther away.
BEFORE_PENALTY = 400
#: Dates farther from the title belong to the text, unless they have a label.
MAX_DISTANCE = 1000
#: So much farther away counts a date in a sentence: it needs a label or a time of day.
SENTENCE_PENALTY = MAX_DISTANCE + 1


class ShownDate(NamedTuple):
    moment: Moment
    #: Characters between it and the title.
    distance: int
    #: Where it ends in its text.
    end: int
    #: How many characters nearer a bare date must be to be taken instead; below 0 for sentences.
    worth: int
    #: Whether it is the day of a change.
    is_update: bool
    #: Whether it has a line of its own.
    is_alone: bool = False

    @property
    def rank(self) -> int:
        return self.distance - self.worth


def find_shown_dates(around: Surroundings, *, day_first: bool) -> list[ShownDate]:
    """The dates near the title, the best first; without any, those with a label anywhere."""
    found = [*_dates_of(around.after, day_first), *_before(around.before, day_first)]
    found = [entry for entry in found if entry.rank <= MAX_DISTANCE]
    if all(entry.is_update for entry in found):
        found += _anywhere(around.whole_text, day_first)
    return sorted(found, key=lambda entry: entry.rank)


def _before(region: Region, day_first: bool) -> Iterator[ShownDate]:
    text = with_plain_dates(region.text)
    size = len(text) + BEFORE_PENALTY
    for entry in _dates_of(Region(text, region.elements), day_first):
        if not _WEEKDAY.match(text, entry.end):
            yield entry._replace(distance=size - entry.distance)


def _anywhere(text: str, day_first: bool) -> list[ShownDate]:
    """The dates of a page that shows none near its title: with a label or a time of day, or else
    the only one that has a line of its own, as under a letter."""
    found = list(_dates_of(Region(text, []), day_first))
    marked = [entry for entry in found if entry.worth >= CLOCK_WORTH]
    alone = [entry for entry in found if entry.is_alone]
    return marked or (alone if len(alone) == 1 else [])


def _dates_of(region: Region, day_first: bool) -> Iterator[ShownDate]:
    text = with_plain_dates(region.text)
    for at, node in region.elements:
        if node.tag == "time":
            yield from _of_element(text, at, node)
    for found in find_dates_in(text, day_first=day_first):
        if not _OF_SITE.search(text, max(0, found.start - LABEL_REACH), found.start):
            yield _rated(text, *found)


def _of_element(text: str, at: int, node: LexborNode) -> Iterator[ShownDate]:
    attributes = node.attributes
    moment = read_date(attributes.get("datetime") or "")
    if moment:
        rated = _rated(text, moment, at, at)
        marks = f"{attributes.get('class')} {attributes.get('itemprop')}"
        is_update = rated.is_update or bool(_UPDATE_MARK.search(marks))
        yield rated._replace(worth=rated.worth + MACHINE_WORTH, is_update=is_update)


def _rated(text: str, moment: Moment, start: int, end: int) -> ShownDate:
    before = text[max(0, start - LABEL_REACH) : start]
    worth = CLOCK_WORTH if moment.clock else 0
    if _ISSUED.search(before) or _LABEL_LINE.search(before):
        worth += LABEL_WORTH
    line = _line(text, start, end)
    if start < end and (len(line) > LINE_LENGTH or _SENTENCE.search(line)):
        worth -= SENTENCE_PENALTY
    is_alone = len(line) <= end - start + ALONE_SIGNS
    return ShownDate(moment, start, end, worth, bool(_UPDATED.search(before)), is_alone)


def _line(text: str, start: int, end: int) -> str:
    last = text.find("\n", end)
    return text[text.rfind("\n", 0, start) + 1 : last if last >= 0 else len(text)]

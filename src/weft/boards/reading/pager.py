"""The next page of a list.

A link may say that it leads there by its word, its arrow, its `rel`, its class or its number. None
of these is enough alone: articles have a "next", too, and galleries have arrows. So the link's URL
must also look like another page of this one: the same words, with another number.
"""

# ruff: noqa: RUF001 - letters and arrows of many scripts look like Latin ones

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborNode

from weft.boards.reading.page import Page, PageLink, clean

#: "Next" as pagers say it, in languages that part their words.
_NEXT_WORDS = frozenset(
    {
        "next", "nächste", "nächster", "nächstes", "naechste", "weiter", "vorwärts",
        "suivant", "suivante", "suivants", "suivantes", "siguiente", "siguientes",
        "próxima", "próximo", "proxima", "proximo", "próximas", "seguinte", "seguintes",
        "successiva", "successivo", "successive", "avanti", "prossima", "prossimo",
        "següent", "volgende", "verder", "następna", "następne", "następny", "dalej",
        "další", "ďalšie", "ďalšia", "následující", "nasledujúca", "következő",
        "tovább", "nästa", "neste", "næste", "seuraava", "seuraavat", "järgmine",
        "nākamā", "kitas", "sonraki", "ileri", "înainte", "următoarea", "urmatoarea",
        "urmatorul", "следующая", "следующие", "следующий", "следующее", "след",
        "вперед", "вперёд", "далее", "далі", "наступна", "наступний", "следваща",
        "следећа", "sljedeća", "sledeća", "sljedeće", "naslednja", "επόμενη", "επόμενο",
        "επομενη", "selanjutnya", "berikut", "berikutnya", "seterusnya", "tiếp", "sau",
        "التالي", "التالية", "بعدی", "بعد", "הבא", "הבאה", "अगला", "पुढील", "পরবর্তী"
    }
)  # fmt: skip
#: The same in languages that do not; and older pages of blogs.
_NEXT_PARTS = (
    "下一页",
    "下一頁",
    "下页",
    "下頁",
    "后页",
    "後頁",
    "次へ",
    "次のページ",
    "次ページ",
    "다음",
    "ถัดไป",
    "หน้าต่อไป",
)
_OLDER = re.compile(
    r"\bolder (?:posts|entries|articles|news)|\bältere (?:beiträge|artikel)|\bentradas antiguas"
    r"|次の ?\d+ ?件"
)
#: Words that lead elsewhere, also where a word for "next" stands beside them.
_OTHER = re.compile(
    r"\bprev|\bback\b|上一|前[页頁の]|前へ|이전|\bzurück|\bvorige|\bvorherig|\bprécéd|\banterior|\bpreced"
    r"|\bпред|\bназад|\bpoprzed|\bpředch|\bföreg|\bforrige|\bönceki|\bfirst\b|\blast\b|\bnewer\b"
    r"|\b(?:article|artikel|artículo|articolo|artigo|post|story|chapter|day|week|month|year|event|video)\b"
    r"|一[篇章条則则集]|記事|статья|запись"
)
#: Words of links that show more of a list; also of much else.
_MORE = re.compile(
    r"(?:(?:load|show|view|see) )?(?:more|older)\b|mehr\b|(?:загрузить|показать) ещ[её]|voir plus"
    r"|ver más|cargar más|(?:加载|載入|查看)?更多|もっと見る|더 ?보기|mostra altr|carregar mais"
)
#: These load more of the same list, if the URL agrees.
_LOAD_MORE = re.compile(
    r"(?:load|show) more\b|загрузить ещ[её]|показать ещ[её]|cargar más|carregar mais|mehr laden"
    r"|charger plus|(?:加载|載入)更多|もっと見る|더 ?보기"
)
_EDGES = "«»‹›<>→←▶►❯.,:;-–()[]|\ue6df "
_ARROW = re.compile(r"^\s*(?:[»›>→▶►❯⟩＞≫⇒⏵]|>>|->|\ue6df)\s*$")
_NUMBER = re.compile(r"^(?:[^\W\d]+ ){0,3}\W{0,2}(\d{1,5})\W{0,2}$")
_DIGITS = re.compile(r"\d+")
#: Longer numbers in paths are identifiers, those with a zero before them are dates.
_PAGE_NUMBER = re.compile(r"(?<!\d)(?!0\d)\d{1,4}(?!\d)")
_OFFSET = re.compile(r"(?<!\d)\d{1,6}$")
_PAGE_WORD = re.compile(
    r"^(?:p|pg|pn|page|pages|paged|pagina|página|pagenum|seite|strana|strona|sivu|sida|side|sayfa|oldal"
    r"|hot|list|index|start|offset|str|页|頁)$",
    re.IGNORECASE,
)
_CLASS_NEXT = re.compile(r"(?:^|[\s_-])next(?=$|[\s_-])|(?<=[a-z])Next(?![a-z])", re.IGNORECASE)
_PAGER_CLASS = re.compile(
    r"pag(?:er|inat|ing|enav|e-?n)|(?:^|[\s_-])pages?(?=$|[\s_-])|nav-?links", re.I
)

#: What goes on from a place in a list, not from a number.
_CURSOR = re.compile(r"^(?:after|before|cursor|from|since|until|max_?id|next|token)\w*=", re.I)

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

#: Stands for the points of an arrow: its label says how many it gets.
ARROW = -1.0
#: A link with fewer points is no next page.
ENOUGH = 4.0
#: What a URL gets that is no page of this list: more than all else can outweigh.
ANOTHER = -10.0
#: "Page 12", but not "12 comments of 30".
LONGEST_NUMBER = 20
#: Longer texts are titles, not words of a pager.
LONGEST = 40
MOST_WORDS = 3
MOST_CJK = 5


class PagerAddress(NamedTuple):
    """A URL, taken apart to compare it with others."""

    host: str
    path: tuple[str, ...]
    query: tuple[str, ...]


def find_next(page: Page) -> list[str]:
    """The next page of a list, and after it the numbered pages that follow."""
    here = _address(page.url)
    later = _later_numbers(page, here)
    points: dict[str, float] = {}
    for url, value in _spoken(page):
        points[url] = max(points.get(url, 0.0), value)
    if later:
        points[later[0]] = points.get(later[0], 0.0) + 2.0
    rated = {
        url: value + _likeness(_address(url), here)
        for url, value in points.items()
        if url != page.url and not _is_other_identifier(url, page.url)
    }
    ranked = sorted(rated, key=lambda url: -rated[url])
    best = [url for url in ranked[:1] if rated[url] >= ENOUGH]
    return list(dict.fromkeys(best + later)) if best else []


def _spoken(page: Page) -> Iterator[tuple[str, float]]:
    """Links that say that they lead to the next page, with points for how clearly."""
    for node in page.tree.css('link[rel~="next"], a[rel~="next"], [class*="next" i]'):
        yield from _marked(page, node)
    for link in page.links:
        if len(link.text) <= LONGEST:
            points = _said(link)
            if points:
                yield link.url, points + _in_pager(link.node)


def _marked(page: Page, node: LexborNode) -> Iterator[tuple[str, float]]:
    anchor = node if node.tag in ("a", "link") else node.css_first("a[href]")
    if anchor is None:
        return
    attributes = anchor.attributes
    href = attributes.get("href")
    url = page.absolute(href) if href else None
    text = clean(anchor.text(deep=True)) or attributes.get("title") or ""
    if not url or len(text) > LONGEST or _OTHER.search(text.lower()):
        return
    points = 3.0 if "next" in (attributes.get("rel") or "").lower().split() else 0.0
    if _CLASS_NEXT.search(node.attributes.get("class") or ""):
        points += 2.0
    said = _said(PageLink(url, text, anchor, attributes))
    # What follows an article is another one, with its title.
    if points and (said or not _is_title(text)):
        yield url, points + said + _in_pager(anchor)


def _is_title(text: str) -> bool:
    return len(text.split()) > MOST_WORDS or len(_CJK.findall(text)) > MOST_CJK


def _said(link: PageLink) -> float:
    points = _word_points(link.text)
    if points != ARROW:
        return points
    attributes = link.attributes
    label = f"{attributes.get('aria-label') or ''} {attributes.get('title') or ''}".lower()
    if _OTHER.search(label):
        return 0.0
    return max(1.5, _word_points(label))


@lru_cache(4096)
def _word_points(text: str) -> float:
    text = text.lower()
    if _says_next(text):
        return 0.0 if _OTHER.search(text.replace("older posts", "")) else 3.0
    if _LOAD_MORE.match(text):
        return 2.0
    if _MORE.match(text):
        return 1.5
    return ARROW if _ARROW.match(text) else 0.0


def _says_next(text: str) -> bool:
    if not _NEXT_WORDS.isdisjoint([word.strip(_EDGES) for word in text.split()]):
        return True
    if text.isascii():
        return "older" in text and bool(_OLDER.search(text))
    return any(part in text for part in _NEXT_PARTS) or bool(_OLDER.search(text))


def _in_pager(node: LexborNode) -> float:
    above: LexborNode | None = node
    for _ in range(4):
        if above is None or not above.is_element_node:
            break
        attributes = above.attributes
        if _PAGER_CLASS.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"):
            return 1.0
        above = above.parent
    return 0.0


def _later_numbers(page: Page, here: PagerAddress) -> list[str]:
    """The numbered pages after this one, the nearest first."""
    runs: dict[str, dict[int, str]] = {}
    for link in page.links:
        # The dots of a gallery are numbers that lead to this page itself.
        if len(link.text) > LONGEST_NUMBER or link.url == page.url:
            continue
        if match := _NUMBER.match(link.text):
            template = _template(link.url)
            runs.setdefault(template, {}).setdefault(int(match[1]), link.url)
    own = _template(page.url)
    best: list[str] = []
    for template, run in runs.items():
        later = _later(run, page.url, template == own)
        if len(later) > len(best) and _likeness(_address(later[0]), here) >= 1:
            best = later
    return best


def _template(url: str) -> str:
    """What the URLs of numbered pages have in common."""
    return _DIGITS.sub("0", url.partition("//")[2].removeprefix("www."))


def _later(run: dict[int, str], own: str, is_alike: bool) -> list[str]:
    """The pages of a run after this one; empty if it is no run of numbered pages."""
    line = _line(run)
    numbers = sorted(run)
    if line is None:
        # The first page may not be like the others: then a list of two pages has but one number.
        return [run[2]] if numbers == [2] and not is_alike else []
    current = float(_missing(numbers))
    if is_alike:
        current = (_values(own)[line.slot] - line.start) / line.step
    later = [number for number in numbers if number > current]
    # Sizes of pages (20, 50, 100) have no neighbours.
    has_neighbour = later and (later[0] == 2 or {later[0] - 1, later[0] + 1} & set(numbers))
    if not has_neighbour and not (later and is_alike and later[0] == current + 1):
        return []
    return [run[number] for number in later]


class NumberLine(NamedTuple):
    """How the number in the URL follows from the number that is shown."""

    slot: int
    step: int
    start: int


def _line(run: dict[int, str]) -> NumberLine | None:
    """None if the URLs do not count pages: dates and identifiers start anywhere."""
    numbers = sorted(run)
    values = [_values(run[number]) for number in numbers]
    slots = [slot for slot, column in enumerate(zip(*values, strict=True)) if len(set(column)) > 1]
    if len(slots) != 1:
        return None
    column = [row[slots[0]] for row in values]
    step = (column[-1] - column[0]) // (numbers[-1] - numbers[0])
    start = column[0] - step * numbers[0]
    is_straight = all(v == step * n + start for v, n in zip(column, numbers, strict=True))
    return (
        NumberLine(slots[0], step, start) if is_straight and start in (0, -step, 1 - step) else None
    )


def _values(url: str) -> list[int]:
    return [int(digits[:18]) for digits in _DIGITS.findall(url.partition("//")[2])]


def _missing(numbers: list[int]) -> int:
    """The number of this page, which is not linked: before the others, or in a gap of them."""
    if numbers[0] > 1:
        return numbers[0] - 1
    gaps = [n + 1 for n, m in pairwise(numbers) if m == n + 2]
    return gaps[0] if gaps else 1


def _is_other_identifier(url: str, own: str) -> bool:
    """Whether two URLs differ only in a number that counts neither pages nor entries."""
    if _template(url) != _template(own) or any(map(_CURSOR.match, _address(url).query)):
        return False
    pairs = zip(_values(own), _values(url), strict=True)
    changes = [(number, abs(other - number)) for number, other in pairs if number != other]
    if len(changes) != 1:
        return False
    number, step = changes[0]
    # Entries are counted from 0 or 1.
    return step > 1 and number % step > 1


def _address(url: str) -> PagerAddress:
    try:
        parts = urlsplit(unquote(url))
    except ValueError:
        return PagerAddress("", (), ())
    path = tuple(part for part in parts.path.split("/") if part)
    return PagerAddress(
        parts.netloc.removeprefix("www."), path, tuple(filter(None, parts.query.split("&")))
    )


def _likeness(url: PagerAddress, here: PagerAddress) -> float:
    """2 for a URL that is this one with another number, less for others."""
    if url.host != here.host and not _are_sisters(url.host, here.host):
        return ANOTHER
    new = [part for part in url.path if part not in here.path]
    pairs = [pair for pair in url.query if pair not in here.query]
    has_number = any(map(_PAGE_NUMBER.search, new)) or any(map(_OFFSET.search, pairs))
    stems = {_stem(part) for part in here.path} | {""}
    if any(_stem(part) not in stems and not _PAGE_WORD.match(_stem(part)) for part in new):
        return 1.0 if has_number and url.path[: len(here.path)] == here.path != () else ANOTHER
    if has_number:
        return 2.0
    # Another identifier is another article; and nothing new is this page.
    if new or not pairs:
        return ANOTHER
    return 1.0 if any(map(_CURSOR.match, pairs)) else 0.5


def _are_sisters(one: str, other: str) -> bool:
    """The same name under another top-level domain, as after a redirect."""
    return one.rpartition(".")[0] == other.rpartition(".")[0] != ""


def _stem(part: str) -> str:
    """What a part of a path is without its number and its file name's ending."""
    return _DIGITS.sub("", part.partition(".")[0]).strip("-_+,=")

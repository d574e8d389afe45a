# ruff: noqa: RUF001 (the titles are Chinese, and so are their commas)
"""The books of the shop: as many as are wanted, and the same ones every time."""

from decimal import Decimal
from typing import NamedTuple

CATEGORIES = ("小说", "计算机", "Science", "历史", "少儿", "Travel")
BOOKS_PER_PAGE = 30

_CHINESE_SUBJECTS = ("分布式系统", "网络爬虫", "唐诗宋词", "海洋", "算法与数据结构", "茶")
_CHINESE_FORMS = ("导论", "实战", "简史", "漫谈", "图鉴")
_CHINESE_AUTHORS = ("李清", "王小明", "张悦然", "陈思远", "刘洋", "赵一鸣", "孙琳")
_ENGLISH_SUBJECTS = ("Rivers", "Algorithms & Data", "the Silk Road", "<Markup>", "Small Gardens")
_ENGLISH_FORMS = ("A History of", "Introduction to", "The Art of", "Notes on")
_ENGLISH_AUTHORS = ("Ada Brook", "J. O'Neill", "Mei-Lin Carter", "Tomás Núñez")


class Book(NamedTuple):
    number: int
    name: str
    #: As the page has it: without a scheme.
    source: str
    price: Decimal
    authors: tuple[str, ...]
    #: Empty: the shop has none.
    description: str


def make_book(number: int) -> Book:
    """Every third is in English, every seventh has two authors, every fiftieth no description."""
    is_english = number % 3 == 0
    authors = _ENGLISH_AUTHORS if is_english else _CHINESE_AUTHORS
    first = number % len(authors)
    name = _english_name(number) if is_english else _chinese_name(number)
    return Book(
        number,
        name,
        f"//img.bookshop.example/covers/{number}.jpg",
        Decimal(990 + number * 7919 % 120_000) / 100,
        (authors[first], authors[first - 1]) if number % 7 == 0 else (authors[first],),
        "" if number % 50 == 0 else _description(name, is_english=is_english),
    )


def _chinese_name(number: int) -> str:
    subject = _CHINESE_SUBJECTS[number // 2 % len(_CHINESE_SUBJECTS)]
    form = _CHINESE_FORMS[number // 7 % len(_CHINESE_FORMS)]
    return f"{subject}{form}（第{number}号）"


def _english_name(number: int) -> str:
    subject = _ENGLISH_SUBJECTS[number % len(_ENGLISH_SUBJECTS)]
    form = _ENGLISH_FORMS[number // 7 % len(_ENGLISH_FORMS)]
    return f"{form} {subject}, No. {number}"


def _description(name: str, *, is_english: bool) -> str:
    if is_english:
        return f"{name} begins where other books end, and takes its time. With maps and an index."
    return f"《{name}》从零开始，由浅入深，配有大量插图与示例，适合每一位读者细细品味。"


class Catalogue(NamedTuple):
    """So many books in all categories."""

    books: int

    def numbers_in(self, category: int) -> range:
        """The books of a category; each book is in one."""
        return range(1 + category, self.books + 1, len(CATEGORIES))

    def last_page_of(self, category: int) -> int:
        return max(1, -(-len(self.numbers_in(category)) // BOOKS_PER_PAGE))

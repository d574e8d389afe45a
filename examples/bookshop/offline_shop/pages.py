"""What the shop answers, in the markup that the paper's XPaths were written for."""

import re
from html import escape

from offline_shop.catalogue import BOOKS_PER_PAGE, CATEGORIES, Book, Catalogue, make_book

#: Descriptions are cut in lists.
LIST_CHARACTERS = 20

_LIST = re.compile(r"/category/(\d+)(?:-(\d+))?\.html")
_BOOK = re.compile(r"/product/(\d+)\.html")


def page_at(path: str, catalogue: Catalogue) -> str | None:
    """The HTML of a page of the shop; None: there is none."""
    if path == "/":
        return _front_page()
    if found := _LIST.fullmatch(path):
        return _list_page(catalogue, int(found[1]), int(found[2] or 1))
    if (found := _BOOK.fullmatch(path)) and 1 <= int(found[1]) <= catalogue.books:
        book = make_book(int(found[1]))
        return _page(book.name, _shelf(_entry(book, book.description)))
    return None


def _front_page() -> str:
    links = (
        f'<li><a href="/category/{number}.html">{name}</a></li>'
        for number, name in enumerate(CATEGORIES)
    )
    return _page("Book shop 书店", f'<ul id="categories">{"".join(links)}</ul>')


def _list_page(catalogue: Catalogue, category: int, page: int) -> str | None:
    if category >= len(CATEGORIES) or not 1 <= page <= catalogue.last_page_of(category):
        return None
    first = (page - 1) * BOOKS_PER_PAGE
    books = map(make_book, catalogue.numbers_in(category)[first : first + BOOKS_PER_PAGE])
    entries = (_entry(book, _shortened(book.description)) for book in books)
    paging = ""
    if page < catalogue.last_page_of(category):
        paging = f'<li class="next"><a href="/category/{category}-{page + 1}.html">下一页</a></li>'
    return _page(CATEGORIES[category], f'{_shelf(*entries)}<ul class="paging">{paging}</ul>')


def _shortened(description: str) -> str:
    return f"{description[:LIST_CHARACTERS]}…" if description else ""


def _shelf(*entries: str) -> str:
    return f'<ul class="bigimg" id="component_59">{"".join(entries)}</ul>'


def _entry(book: Book, description: str) -> str:
    """A book as lists have it; on its own page it has the whole description."""
    name = escape(book.name)
    link = f"/product/{book.number}.html"
    authors = ", ".join(f"<a>{escape(author)}</a>" for author in book.authors)
    return f"""
<li>
  <a class="pic" href="{link}"><img src="{escape(book.source)}" alt="{name}"></a>
  <p class="name"><a href="{link}">{name}</a></p>
  <p class="detail">
    {escape(description)}
  </p>
  <p class="price"><span>¥{book.price:,.2f}</span> <del>¥{book.price + 10:,.2f}</del></p>
  <p class="search_book_author"><span>{authors}</span> <span>2026-11</span></p>
</li>"""


def _page(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"

"""The book-shop half of the demo site: four categories of ten books, five to a list page."""

import re
from html import escape

from weft.demo.catalogue import BOOKS, CATEGORIES, PRAISE, Book
from weft.demo.frame import bullets, link, list_path, page, page_links

PER_PAGE = 5

_COLOURS = ("#2f5d62", "#8a3b2e", "#4b5a8a", "#7a6a2c", "#5c3d66")


def slug(book: Book) -> str:
    return re.sub("[^a-z]+", "-", book.name.lower().replace("'", "")).strip("-")


def book_path(book: Book) -> str:
    return f"/shop/books/{slug(book)}.html"


def cover_path(book: Book) -> str:
    return f"/covers/{slug(book)}.svg"


def _price(book: Book) -> str:
    return f"£{book.price_pence / 100:.2f}"


def shop_page() -> str:
    entries = [
        f"{link(f'/shop/{category}/', name)}, {len(BOOKS[category])} books"
        for category, name in CATEGORIES.items()
    ]
    return page("Book shop", f"<h1>Book shop</h1>\n{bullets(entries, 'categories')}")


def list_pages() -> dict[str, str]:
    made = {}
    for category, name in CATEGORIES.items():
        books, folder = BOOKS[category], f"/shop/{category}/"
        last = -(-len(books) // PER_PAGE)
        for number in range(1, last + 1):
            shown = shelf(books[(number - 1) * PER_PAGE : number * PER_PAGE])
            content = f"<h1>{name}</h1>\n{shown}\n{page_links(folder, number, last)}"
            made[list_path(folder, number)] = page(name, content)
    return made


def shelf(books: tuple[Book, ...]) -> str:
    entries = [
        f"{_cover(book)}<br>\n{link(book_path(book), book.name)}\n"
        f'<span class="price">{_price(book)}</span>'
        for book in books
    ]
    return bullets(entries, "books")


def book_pages() -> dict[str, str]:
    return {
        book_path(book): _book_page(category, number)
        for category, books in BOOKS.items()
        for number, book in enumerate(books)
    }


def _book_page(category: str, number: int) -> str:
    books = BOOKS[category]
    book, other = books[number], books[(number + 1) % len(books)]
    content = f"""<div class="book">
{_cover(book)}
<h1 class="name">{escape(book.name, quote=False)}</h1>
<p class="meta">by <span class="author">{book.author}</span></p>
<p class="price">{_price(book)}</p>
<div class="description"><p>{book.hook}</p>
<p>{PRAISE[category][number % 2]}</p></div>
</div>
<p>Readers also liked {link(book_path(other), other.name)}.
Back to {link(f"/shop/{category}/", CATEGORIES[category], "category")}.</p>"""
    head = (
        '<meta property="og:type" content="product">\n'
        f'<meta property="og:title" content="{escape(book.name)}">\n'
        f'<meta property="og:image" content="{cover_path(book)}">\n'
        f'<meta name="description" content="{escape(book.hook)}">\n'
    )
    return page(book.name, content, head)


def _cover(book: Book) -> str:
    name = escape(book.name)
    return f'<img class="cover" src="{cover_path(book)}" alt="Cover of {name}">'


def covers() -> dict[str, str]:
    books = [book for category in BOOKS.values() for book in category]
    return {cover_path(book): _cover_image(book, n) for n, book in enumerate(books)}


def _cover_image(book: Book, number: int) -> str:
    lines = "".join(
        f'<text x="80" y="{60 + 22 * row}">{word}</text>'
        for row, word in enumerate(book.name.split())
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 240">'
        f'<rect width="160" height="240" fill="{_COLOURS[number % len(_COLOURS)]}"/>'
        '<g fill="#fff" font-family="serif" font-size="18" text-anchor="middle">'
        f'{lines}<text x="80" y="225" font-size="12">{book.author}</text></g></svg>\n'
    )

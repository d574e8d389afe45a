"""The bundled sites. `weft demo` crawls `newsroom`; this is the theme `demo` of a `SiteServer`, for
tests: the newspaper of a small town, and its book shop.

Deterministic and made of text alone: `pages()` is the whole site, by path. Every page can be
reached from `/`; one link is dead and one leads through a redirect.
"""

from functools import lru_cache

from weft.demo.catalogue import BOOKS
from weft.demo.frame import SITE_NAME, link, page
from weft.demo.news import SECTIONS, article_pages, articles, list_pages, teasers
from weft.demo.shop import book_pages, covers, shelf, shop_page
from weft.demo.shop import list_pages as shelf_pages

__all__ = ["DEAD_LINK", "MOVED", "covers", "pages"]

#: Linked to, and not there.
DEAD_LINK = "/press-kit.html"
#: Paths that lead elsewhere.
MOVED = {"/old-shop": "/shop/"}


@lru_cache(maxsize=1)
def pages() -> dict[str, str]:
    """The HTML of every page, by path."""
    return {
        "/": _home(),
        **list_pages(),
        **article_pages(),
        "/shop/": shop_page(),
        **shelf_pages(),
        **book_pages(),
        "/about.html": _about(),
        "/contact.html": _contact(),
    }


def _home() -> str:
    latest = [articles(section)[0] for section in SECTIONS]
    chosen = tuple(books[0] for books in BOOKS.values())
    content = f"""<h1>Good morning, Larkhaven</h1>
{teasers(latest)}
<h2>From the {link("/old-shop", "book shop")}</h2>
{shelf(chosen)}"""
    return page("Home", content)


def _about() -> str:
    content = f"""<h1>About the Gazette</h1>
<p>{SITE_NAME} reports on a town that you will not find on any map, and sells the books that its
people would read. All of it was written to be crawled.</p>
<p>Journalists may ask for our {link(DEAD_LINK, "press kit")}, or
{link("/contact.html", "write to us")}.</p>"""
    return page("About", content)


def _contact() -> str:
    content = f"""<h1>Contact</h1>
<address>{SITE_NAME}<br>3 Net Loft Lane<br>Larkhaven</address>
<p>The door is open from nine to five. See also {link("/about.html", "who we are")}.</p>"""
    return page("Contact", content)

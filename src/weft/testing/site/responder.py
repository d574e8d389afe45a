"""From request to answer: the theme's pages first, then the paths of every site, then 404."""

import zlib

from weft.testing.site.numbers import is_nth, page_number
from weft.testing.site.options import Site
from weft.testing.site.special import not_found, special
from weft.testing.site.themes import pages_of
from weft.testing.site.wire import Request, SiteAnswer, answer, redirect, text_answer, without_body


class Stumbles:
    """Remembers which flaky and busy pages have had their first request."""

    def __init__(self, site: Site) -> None:
        self._flaky_every = site.flaky_every if site.theme == "numbers" else 0
        self._busy_every = site.busy_every if site.theme == "numbers" else 0
        self._seen: set[tuple[int, str, str]] = set()

    def answer(self, host: str, path: str) -> SiteAnswer | None:
        """The failure that is due for this page, once."""
        number = page_number(path) or 0
        if is_nth(number, self._flaky_every) and self._is_first(500, host, path):
            return text_answer(500, "Try again\n")
        if is_nth(number, self._busy_every) and self._is_first(429, host, path):
            return text_answer(429, "Try later\n", "Retry-After: 1\r\n")
        return None

    def forget(self) -> None:
        self._seen.clear()

    def _is_first(self, status: int, host: str, path: str) -> bool:
        key = (status, host, path)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


class Responder:
    def __init__(self, site: Site, port: int) -> None:
        self._site = site
        self._port = port
        self._theme = pages_of(site, port)
        self._stumbles = Stumbles(site)
        self._html_type = f"text/html; charset={site.charset}"

    def answer(self, host: str, request: Request) -> SiteAnswer:
        found = self._page(host, request) or self._other(host, request)
        if request.method == "HEAD" and not found.is_broken:
            return without_body(found)
        return found

    def forget(self) -> None:
        self._stumbles.forget()

    def _page(self, host: str, request: Request) -> SiteAnswer | None:
        html = self._theme.page(host, request.path)
        if html is None:
            return None
        stumble = self._stumbles.answer(host, request.path)
        if stumble:
            return stumble
        body = html.encode(self._site.charset, "xmlcharrefreplace")
        if not self._site.gzip:
            return answer(200, body, self._html_type)
        headers = "Vary: Accept-Encoding\r\n"
        if request.accepts_gzip:
            headers += "Content-Encoding: gzip\r\n"
            body = zlib.compress(body, 1, wbits=31)  # a gzip header without a time
        return answer(200, body, self._html_type, headers)

    def _other(self, host: str, request: Request) -> SiteAnswer:
        path = request.path
        moved_to = self._theme.redirect(path)
        if moved_to:
            return redirect(moved_to)
        file = self._theme.file(path)
        if file:
            return answer(200, file[1].encode(), file[0])
        if path == "/robots.txt" and self._site.robots:
            return text_answer(200, self._site.robots)
        if path == "/sitemap.xml":
            return answer(200, self._sitemap(host).encode(), "application/xml")
        return special(request) or not_found()

    def _sitemap(self, host: str) -> str:
        urls = "".join(
            f"<url><loc>http://{host}:{self._port}{path}</loc></url>\n"
            for path in self._theme.paths()
        )
        start = '<?xml version="1.0" encoding="utf-8"?>\n'
        schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return f'{start}<urlset xmlns="{schema}">\n{urls}</urlset>\n'

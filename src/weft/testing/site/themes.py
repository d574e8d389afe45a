"""A theme is a set of pages; every host of a site serves the same ones."""

from collections.abc import Iterable
from typing import Protocol

from weft import demo
from weft.testing.site.numbers import Numbers
from weft.testing.site.options import Site


class ThemePages(Protocol):
    """The pages of a theme. All answers depend only on the arguments."""

    def paths(self) -> Iterable[str]:
        """The paths of all pages; links lead from `/` to each."""

    def page(self, host: str, path: str) -> str | None:
        """The HTML at a path."""

    def redirect(self, path: str) -> str | None:
        """The target of a path that has moved."""

    def file(self, path: str) -> tuple[str, str] | None:
        """Content type and text of a file that is not a page."""


class Demo:
    def __init__(self) -> None:
        self._pages = demo.pages()
        self._covers = demo.covers()

    def paths(self) -> Iterable[str]:
        return self._pages

    def page(self, host: str, path: str) -> str | None:
        return self._pages.get(path)

    def redirect(self, path: str) -> str | None:
        return demo.MOVED.get(path)

    def file(self, path: str) -> tuple[str, str] | None:
        cover = self._covers.get(path)
        return ("image/svg+xml", cover) if cover else None


def pages_of(site: Site, port: int) -> ThemePages:
    return Demo() if site.theme == "demo" else Numbers(site, port)

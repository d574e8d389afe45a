"""Finds the names of a site's sections: what stands beside a title and is no author."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from weft.boards.reading.article.linked import find_article, texts, types
from weft.boards.reading.page import Page, clean

#: Links to sections: in menus, in the path above the title, and those of a blog's categories.
_LINKS = 'nav a, [class*="crumb" i] a, a[rel~="category"], a[href*="/category/"]'
#: No more of them are read.
MAX_LINKS = 200


def find_sections(page: Page) -> Iterator[str]:
    """The names of sections that a page gives its readers and machines; some come twice."""
    yield from texts(find_article(page).get("articleSection"))
    yield from page.metas.get("article:section", ())
    for entry in page.json_ld:
        if "BreadcrumbList" in types(entry):
            yield from _of_path(entry.get("itemListElement"))
    for node in islice(page.tree.css(_LINKS), MAX_LINKS):
        yield clean(node.text(deep=True))


def _of_path(steps: Any) -> Iterator[str]:
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            yield from texts(step)
            yield from texts(step.get("item"))

"""Takes the main content out of a page with resiliparse: cheap, never slow, less exact."""

from lxml.html import HTMLParser, fragment_fromstring  # type: ignore[import-untyped]
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from weft.boards.reading.article.markdown import Line, read_lines
from weft.boards.reading.page import Page


def read_plain(page: Page) -> list[Line]:
    """The lines of the main content of a page; none if there is none."""
    html = extract_plain_text(
        HTMLTree.parse(page.text),
        preserve_formatting="minimal_html",
        main_content=True,
        # Without them, figures are left out, also those that hold code.
        alt_texts=page.tree.css_first("figure pre") is not None,
        comments=False,
    )
    parser = HTMLParser(collect_ids=False, remove_comments=True, huge_tree=True)
    return read_lines(fragment_fromstring(html, create_parent="div", parser=parser))

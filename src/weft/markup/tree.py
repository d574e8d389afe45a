"""A page as lexbor reads it."""

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

# Without events: they keep a copy of the selected option of a list up to date, and go through all
# of its options after each one. A list of 20,000 would take two seconds.
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)


def parse_page(page: bytes) -> LexborHTMLParser:
    """Parse a page in UTF-8; `find_excess` says whether that is cheap enough."""
    return LexborHTMLParser(page, options=_OPTIONS)

"""A page as lexbor reads it."""

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

# Without events: these keep a copy of what is selected in a list up to date, and for that look
# through all of its options after each. A list of 20,000 would take two seconds.
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)


def parse_page(page: bytes) -> LexborHTMLParser:
    """In UTF-8; whether it can be borne is for `find_excess` to say."""
    return LexborHTMLParser(page, options=_OPTIONS)

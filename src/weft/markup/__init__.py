"""Finds out what a page may cost a parser, before it is parsed.

For some pages, a browser's parser takes time and memory out of proportion to their size: the square
of the depth of nesting, of the number of attributes of a tag, or of the number of formatting tags
that are not closed. `limits` checks a page in steps. Each costs more than the one before, and is
only taken if the page could still be too expensive; most pages need only the first, a count of
possible tags. `attributes` reads tags that may be long; `reduce` removes what is closed, to see
what is not.
"""

from weft.markup.limits import (
    DEFAULT_LIMITS,
    Excess,
    PageLimits,
    find_excess,
    find_long_tag,
)
from weft.markup.tree import parse_page

__all__ = ["DEFAULT_LIMITS", "Excess", "PageLimits", "find_excess", "find_long_tag", "parse_page"]

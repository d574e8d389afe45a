"""What a page may cost a parser, found out before it is parsed.

A browser's parser takes time and memory for some pages that have nothing to do with their size: the
square of how deep tags are nested, of how many attributes a tag has, or of how many formatting tags
are not closed. `limits` looks at a page in steps. Each is dearer than the one before, and only
taken where a page could be too dear by what is known so far; most pages end with the first, a count
of what may be tags. `attributes` reads tags where they may be long, `reduce` takes out what is
closed, to see what is not.
"""

from weft.engine.markup.limits import (
    DEFAULT_LIMITS,
    Excess,
    PageLimits,
    find_excess,
    find_long_tag,
)
from weft.engine.markup.tree import parse_page

__all__ = ["DEFAULT_LIMITS", "Excess", "PageLimits", "find_excess", "find_long_tag", "parse_page"]

"""Removes from a page what is surely closed.

`<b>text</b>` opens an element and closes it again; to a parser, whatever follows is the same
without it. So it is removed, then the element around it, and so on, in a few passes of a regular
expression. The remaining tags bound how deep the page is nested, and how much formatting stays
open: a page may be taken for deeper than it is, but not for less deep.

Only tags that are written as the HTML standard requires are removed: they can be read in only one
way. A NUL is left in their place, so that the text around them cannot form anything new.
"""

import re

#: Each pass removes the innermost elements.
MAX_PASSES = 12

#: Attributes as the standard requires them.
ATTRIBUTES = rb"(?:\s++[^\s\"'<>/=]++(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?+)*+\s*+"
_END = rb"(?![a-zA-Z0-9-])" + ATTRIBUTES
_VOID = (
    rb"area|base|basefont|bgsound|br|col|embed|frame|hr|image|img|input|keygen|link|meta|param"
    rb"|source|track|wbr"
)
#: Each of these ends the one before it, if there is only text between the two.
_SIBLINGS = (rb"li", rb"p", rb"option", rb"d[dt]", rb"t[dh]", rb"tr")

_CLOSED = (
    rb"<(?!(?:plaintext|"
    + _VOID
    + rb")(?![a-zA-Z0-9-]))([a-zA-Z][a-zA-Z0-9-]*+)"
    + ATTRIBUTES
    + rb">[^<]*+</\1\s*+>"
    rb"|<(?:" + _VOID + rb")" + _END + rb"/>"
    # In SVG and MathML, too.
    rb"|<(?:br|embed|hr|img|meta)" + _END + rb">"
    rb"|<!--[^<>-]*+-->"
) + b"".join(rb"|<%b%b>[^<]*+(?=<%b[\s>])" % (name, _END, name) for name in _SIBLINGS)
# Only without SVG and MathML, which would leave them open.
_CLOSED_IN_HTML = _CLOSED + rb"|<(?:" + _VOID + rb")" + _END + rb">"
_closed = re.compile(_CLOSED)
_closed_in_html = re.compile(_CLOSED_IN_HTML)
_FOREIGN = re.compile(rb"<(?:[Ss][Vv][Gg]|[Mm][Aa][Tt][Hh])")


def reduced(page: bytes, tags: int) -> bytes:
    """The page, reduced until at most this many tags are left, or no more can be removed."""
    closed = _closed if _FOREIGN.search(page) else _closed_in_html
    for _ in range(MAX_PASSES):
        page, taken = closed.subn(b"\0", page)
        if not taken or page.count(b"<") <= tags:
            break
    return page

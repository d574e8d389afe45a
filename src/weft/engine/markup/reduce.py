"""What is left of a page when that which is surely closed is taken out of it.

`<b>text</b>` opens an element and closes it again; without it, whatever follows is the same to a
parser. So it is taken out, then what it stood in, and so on, all by a few passes of a regular
expression. The tags that are left bound how deep the page is nested, and how much formatting stays
open: a page can be taken for deeper than it is, but not for less deep.

Only tags that are written as the HTML standard wants them are taken out: those can be read in one
way only. In their place a NUL is left, so that nothing new comes of what stood around them.
"""

import re

#: Each pass takes out the innermost elements.
MAX_PASSES = 12

#: Of a tag as the standard wants it.
ATTRIBUTES = rb"(?:\s++[^\s\"'<>/=]++(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?+)*+\s*+"
_END = rb"(?![a-zA-Z0-9-])" + ATTRIBUTES
_VOID = (
    rb"area|base|basefont|bgsound|br|col|embed|frame|hr|image|img|input|keygen|link|meta|param"
    rb"|source|track|wbr"
)
#: Each of these ends the one before it, if there is nothing but text between the two.
_SIBLINGS = (rb"li", rb"p", rb"option", rb"d[dt]", rb"t[dh]", rb"tr")

_CLOSED = (
    rb"<(?!(?:plaintext|"
    + _VOID
    + rb")(?![a-zA-Z0-9-]))([a-zA-Z][a-zA-Z0-9-]*+)"
    + ATTRIBUTES
    + rb">[^<]*+</\1\s*+>"
    rb"|<(?:" + _VOID + rb")" + _END + rb"/>"
    # In a drawing or a formula too.
    rb"|<(?:br|embed|hr|img|meta)" + _END + rb">"
    rb"|<!--[^<>-]*+-->"
) + b"".join(rb"|<%b%b>[^<]*+(?=<%b[\s>])" % (name, _END, name) for name in _SIBLINGS)
# Where there is neither, which would leave them open.
_CLOSED_IN_HTML = _CLOSED + rb"|<(?:" + _VOID + rb")" + _END + rb">"
_closed = re.compile(_CLOSED)
_closed_in_html = re.compile(_CLOSED_IN_HTML)
_FOREIGN = re.compile(rb"<(?:[Ss][Vv][Gg]|[Mm][Aa][Tt][Hh])")


def reduced(page: bytes, tags: int) -> bytes:
    """The page when no more than so many tags are left of it, or no fewer can be."""
    closed = _closed if _FOREIGN.search(page) else _closed_in_html
    for _ in range(MAX_PASSES):
        page, taken = closed.subn(b"\0", page)
        if not taken or page.count(b"<") <= tags:
            break
    return page

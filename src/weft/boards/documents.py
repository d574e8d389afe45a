"""Tells pages from the other texts that sites link to: sources, scripts, data."""

import re

_PAGE_TYPE = re.compile(r"(?:text|application)/(?:x?html|[\w.-]*\+?xml|vnd\.wap\.[\w.+-]+)\b")
#: Servers call pages by other types, too, if they don't know their names.
_PAGE = re.compile(
    rb"(?>(?:<\?xml[^>]*>|<!--(?>.*?-->))\s*)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE = b"\xef\xbb\xbf \t\r\n"
_HEAD_BYTES = 2_048


def is_page(body: bytes, content_type: str) -> bool:
    """Whether an answer of text is a page, and no plain text, script or data."""
    kind = content_type.partition(";")[0].strip().lower()
    if not kind or _PAGE_TYPE.match(kind):
        return True
    return _PAGE.match(body[:_HEAD_BYTES].lstrip(_BEFORE)) is not None

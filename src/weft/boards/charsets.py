"""Tells when a page has another encoding than it says; it is read as what it is."""

import re

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

#: In a header or the head of a page.
_NAMED = re.compile(r"(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
#: Charsets stand near the beginning of a page.
_HEAD_BYTES = 4_096


def wrong_charset(body: bytes, content_type: str, encoding: str) -> str:
    """What is wrong, for people; empty if nothing is.

    `encoding`: Python's name of the one that the page really has.
    """
    if body.isascii():
        return ""  # then all of them are right
    name = http_content_type_encoding(content_type) or html_body_declared_encoding(body)
    declared = resolve_encoding(name) if name else None
    if declared is None or declared == encoding:
        return ""
    head = body[:_HEAD_BYTES].decode("latin-1")
    told = _NAMED.findall(f"{content_type}\n{head}")
    name = next((each for each in told if resolve_encoding(each) == declared), name)
    return f"it says that its charset is {name}, but it is {encoding}; it was read as that"

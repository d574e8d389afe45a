"""The sitemaps that a robots.txt names."""

import re

from weft.boards.feeds.addresses import absolute

#: By RFC 9309 crawlers read at least 500 KiB of the file; nobody has to read more.
MAX_TEXT = 512_000
MAX_SITEMAPS = 1_000

_LINE = re.compile(
    r"(?:\A(?:\ufeff|ï»¿)?|[\r\n])[ \t]*+sitemap[ \t]*+:[ \t]*+(\S++)", re.IGNORECASE
)


def robots_sitemaps(text: str) -> list[str]:
    """Their URLs in their order, each once; relative ones are none, by the protocol."""
    found: dict[str, None] = {}
    for line in _LINE.finditer(text[:MAX_TEXT]):
        if url := absolute("", line[1]):
            found[url] = None
        if len(found) == MAX_SITEMAPS:
            break
    return list(found)

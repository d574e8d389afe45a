"""From bytes to text: the limits of a file, its packing and its encoding."""

from typing import NamedTuple

from weft.boards.feeds.unpacking import unpacked
from weft.boards.reading.charset import decode
from weft.errors import PageError
from weft.markup import find_long_tag

#: The encoding is found in so many bytes.
SAMPLE_BYTES = 1_000_000


class FileLimits(NamedTuple):
    #: Unpacked.
    max_bytes: int
    #: The most marks that begin an element or an object.
    max_marks: int


#: Real feeds with the whole text of a thousand articles are smaller.
FEED_LIMITS = FileLimits(10_000_000, 250_000)
#: By the protocol a sitemap has 50 MiB; its 50,000 pages may have a dozen elements each.
SITEMAP_LIMITS = FileLimits(52_428_800, 1_250_000)


def file_text(body: bytes, limits: FileLimits) -> str:
    """The text of a file. Raises PageError if it exceeds a limit."""
    if len(body) > limits.max_bytes:
        raise PageError(f"not read: more than {limits.max_bytes} bytes")
    content = unpacked(body, limits.max_bytes)
    # The texts of JSON may have a `<` that begins no tag.
    if not content[:100].lstrip().startswith(b"{") and (excess := find_long_tag(content)):
        raise PageError(excess.reason)
    text = _decoded(content)
    if text.count("<") > limits.max_marks or text.count("{") + text.count("[") > limits.max_marks:
        raise PageError(f"not read: more than {limits.max_marks} elements")
    return text


def _decoded(content: bytes) -> str:
    if len(content) <= SAMPLE_BYTES:
        return decode(content).text
    # Cut after a tag or a line, and not within a character.
    end = max(content.rfind(mark, 0, SAMPLE_BYTES) for mark in (b">", b"\n", b","))
    encoding = decode(content[: end + 1] or content[:SAMPLE_BYTES]).encoding
    return content.decode(encoding, "replace")

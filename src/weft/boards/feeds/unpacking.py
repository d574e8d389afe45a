"""Unpacks gzip, and never more of it than wanted."""

import zlib

from weft.errors import PageError

_GZIP = b"\x1f\x8b"
_GZIP_BITS = 16 + zlib.MAX_WBITS
CHUNK_BYTES = 65_536
#: A file may be packed in pieces, one after the other.
MAX_PIECES = 5_000


def is_packed(body: bytes) -> bool:
    return body.startswith(_GZIP)


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """The body itself, if it is not packed.

    Of a broken file, what can be unpacked. Raises PageError if that is nothing, or too much.
    """
    content = unpacked_start(body, max_bytes + 1)
    if len(content) > max_bytes:
        raise PageError(f"not read: more than {max_bytes} bytes")
    if body and not content:
        raise PageError("not read: its gzip is broken")
    return content


def unpacked_start(body: bytes, most: int) -> bytes:
    """The first bytes, at most so many."""
    if not is_packed(body):
        return body[:most]
    content = bytearray()
    place = pieces = 0
    while body.startswith(_GZIP, place) and len(content) < most and pieces < MAX_PIECES:
        place = _unpack_piece(body, place, most, content)
        pieces += 1
    return bytes(content)


def _unpack_piece(body: bytes, place: int, most: int, content: bytearray) -> int:
    """Unpack one piece into `content`; where it ends, or the end of the body if it is broken."""
    piece = zlib.decompressobj(_GZIP_BITS)
    waiting = b""
    while not piece.eof and len(content) < most:
        chunk = waiting or body[place : place + CHUNK_BYTES]
        if not chunk:
            break
        place += 0 if waiting else len(chunk)
        try:
            content += piece.decompress(chunk, most - len(content))
        except zlib.error:
            return len(body)
        waiting = piece.unconsumed_tail
    return place - len(piece.unused_data)

"""Compressed bodies: bombs, and bodies that cannot be decompressed.

The bombs are made when they are first requested. Each has at most a megabyte, and unpacks to the
size given here, or endlessly.
"""

import gzip
import sys
import zlib
from collections.abc import Callable
from functools import cache

import brotli

from weft.testing.hostile.answers import HostileAnswer, Pages, html, made, whole

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_BODY = html("Packed").encode()
_BLOCK = 1_000_000
_TAGS = b"<p>x</p>" * (_BLOCK // 8)

Packer = Callable[[bytes], bytes]


def _raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def _brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=2))


PACKERS: dict[str, Packer] = {
    "gzip": _gzip,
    "deflate": zlib.compress,
    "br": _brotli,
    "zstd": zstd.compress,
}


def _packed(coding: str, body: bytes, declared: str = "") -> HostileAnswer:
    return whole(body, "text/html", f"Content-Encoding: {declared or coding}")


@cache
def bomb(coding: str, blocks: int, block: bytes) -> bytes:
    """`blocks` blocks of a megabyte, compressed one after the other."""
    if coding in ("gzip", "deflate"):
        # A block without references to earlier data can be repeated.
        packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
        first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
        again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
        return first + again * (blocks - 1)
    if coding == "br":
        brotler = brotli.Compressor(quality=2)
        return bytes(b"".join(brotler.process(block) for _ in range(blocks)) + brotler.finish())
    return zstd.compress(block) * blocks


def _bomb(coding: str, blocks: int, block: bytes) -> HostileAnswer:
    return made(lambda: bomb(coding, blocks, block), "text/html", f"Content-Encoding: {coding}")


@cache
def _nested_bomb() -> bytes:
    """Three layers; a few hundred bytes become gigabytes."""
    return _gzip(_gzip(bomb("gzip", 1_000, b"\0" * _BLOCK)))


def _broken(coding: str, pack: Packer) -> dict[str, HostileAnswer]:
    packed = pack(_BODY * 100)
    turned = bytes(byte ^ 0x55 for byte in packed[len(packed) // 2 :])
    return {
        f"{coding}/cut": _packed(coding, packed[: len(packed) // 2]),
        f"{coding}/cut-short": _packed(coding, packed[:5]),
        f"{coding}/empty": _packed(coding, b""),
        f"{coding}/broken": _packed(coding, packed[: len(packed) // 2] + turned),
        f"{coding}/not-packed": _packed(coding, _BODY),
        f"{coding}/noise": _packed(coding, bytes(range(256)) * 50),
        f"{coding}/more-after": _packed(coding, packed + b"junk" * 10_000),
        f"{coding}/twice": _packed(coding, pack(packed), f"{coding}, {coding}"),
        f"{coding}/twice-but-once-told": _packed(coding, pack(packed)),
        f"{coding}/once-but-twice-told": _packed(coding, packed, f"{coding}, {coding}"),
        f"{coding}/upper": _packed(coding, packed, coding.upper()),
        f"{coding}/bomb": _bomb(coding, 300, b"\0" * _BLOCK),
        f"{coding}/tags": _bomb(coding, 60, _TAGS),
        f"{coding}/text": _bomb(coding, 60, b"word " * (_BLOCK // 5)),
    }


def pages() -> Pages:
    found: dict[str, HostileAnswer] = {}
    for coding, pack in PACKERS.items():
        found |= _broken(coding, pack)
    return found | {
        "nested-bomb": made(_nested_bomb, "text/html", "Content-Encoding: gzip, gzip, gzip"),
        "raw-deflate": _packed("deflate", _raw_deflate(_BODY)),
        "x-gzip": _packed("x-gzip", _gzip(_BODY)),
        "all-at-once": _packed(
            "gzip", zstd.compress(_brotli(zlib.compress(_gzip(_BODY)))), "gzip, deflate, br, zstd"
        ),
        "unknown": _packed("weft", _BODY),
        "identity": _packed("identity", _BODY),
        "compress": _packed("compress", b"\x1f\x9d\x90" + _BODY),
        "empty-name": _packed(" ", _BODY),
        "binary-name": _packed("\xff\xfe", _BODY),
        "thousands": _packed("gzip", _gzip(_BODY), ", ".join(["gzip"] * 3_000)),
        "thousands-unknown": _packed("x", _BODY, ", ".join(["x"] * 3_000)),
        "many-members": _packed("gzip", _gzip(b"") * 20_000 + _gzip(_BODY)),
        "wrong-sum": _packed("gzip", _gzip(_BODY)[:-8] + b"\0" * 8),
        "long-name": _packed("gzip", b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"x" * 1_000_000),
        "large-window": _packed("zstd", b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00" + _BODY),
        "skipped-frames": _packed("zstd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00" * 50_000),
        "gzip-in-type": whole(_gzip(_BODY), "application/gzip"),
        "not-told": whole(_gzip(_BODY), "text/html"),
    }

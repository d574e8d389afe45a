"""Invalid names of character sets, and bytes that contradict their declared one."""

import codecs
from random import Random

from weft.testing.hostile.answers import HostileAnswer, Pages, head, links, raw, whole

#: Python has codecs for most of these names; few of them are for text.
NAMES = (
    *("base64", "base64_codec", "rot13", "rot_13", "hex", "hex_codec", "uu", "uu_codec"),
    *("zip", "zlib", "bz2", "quopri", "quoted-printable", "idna", "punycode", "undefined"),
    *("utf-7", "utf_7", "unicode_escape", "raw_unicode_escape", "unicode-internal", "mbcs"),
    *("oem", "string-escape", "charmap", "ascii", "utf_8_sig", "utf-16", "utf-16-le", "utf-32"),
    *("cp037", "cp500", "cp1140", "hz", "iso-2022-jp", "iso-2022-kr", "shift_jis", "big5"),
    *("gb18030", "euc-kr", "koi8-r", "mac-roman", "tis-620", "johab", "x-user-defined"),
    *("replacement", "none", "None", "null", "unknown", "auto", "binary", "utf8mb4", "utf-9"),
    *("../../etc/passwd", "os", "__init__", "aliases", "x" * 10_000, "-", "_", ".", "0"),
)
_ODD_TYPES = {
    "empty": "text/html; charset=",
    "quote": 'text/html; charset="',
    "quoted": 'text/html; charset="utf-8',
    "single": "text/html; charset='utf-8'",
    "twice": "text/html; charset=base64; charset=utf-8",
    "equals": "text/html; charset==utf-8",
    "spaces": "text/html; charset = utf-8",
    "comma": "text/html, charset=base64, text/plain",
    "many": "text/html" + "; charset=rot13" * 2_000,
    "nul": "text/html; charset=utf-8\0",
    "binary": "text/html; charset=\xff\xfe",
    "backslashes": 'text/html; charset="' + "\\" * 5_000,
}
_TEXT = f"<!DOCTYPE html><title>Ä ö ü ✓ 漢字</title>{links('/charsets/there')}"


def _meta(name: str) -> HostileAnswer:
    return whole(f'<meta charset="{name}">{_TEXT}', "text/html")


def _bytes(body: bytes, content_type: str = "text/html") -> HostileAnswer:
    return raw(head(content_type, length=len(body)) + body, then="keep")


def _noise(size_bytes: int) -> bytes:
    return b"<html><body>" + Random(13).randbytes(size_bytes)


def _contradictions() -> dict[str, HostileAnswer]:
    utf_8, utf_16 = _TEXT.encode(), _TEXT.encode("utf-16")
    little, big = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
    meta_16 = f'<meta charset="utf-16">{_TEXT}'.encode()
    return {
        "mark-16-header-8": _bytes(utf_16, "text/html; charset=utf-8"),
        "mark-8-header-16": _bytes(codecs.BOM_UTF8 + utf_8, "text/html; charset=utf-16"),
        "mark-16-but-8": _bytes(little + utf_8),
        "mark-big-but-8": _bytes(big + utf_8),
        "mark-32-but-8": _bytes(codecs.BOM_UTF32_LE + utf_8),
        "mark-twice": _bytes(codecs.BOM_UTF8 * 1_000 + utf_8),
        "mark-only": _bytes(little),
        "meta-16-but-8": _bytes(meta_16),
        "meta-twice": _bytes(f'<meta charset="base64"><meta charset="utf-8">{_TEXT}'.encode()),
        "meta-late": _bytes((" " * 5_000 + '<meta charset="hex">' + _TEXT).encode()),
        "meta-thousands": _bytes(('<meta charset="hex">' * 1_000 + _TEXT).encode()),
        "meta-pragma": _bytes(
            f'<meta http-equiv="content-type" content="text/html; charset=zip">{_TEXT}'.encode()
        ),
        "xml": _bytes(f'<?xml version="1.0" encoding="uu"?>{_TEXT}'.encode(), "text/xml"),
        "header-and-meta": _bytes(
            f'<meta charset="rot13">{_TEXT}'.encode(), "text/html; charset=zlib"
        ),
        "odd-utf-16": _bytes(utf_16[:-1]),
        "odd-utf-32": _bytes(_TEXT.encode("utf-32")[:-3]),
        "latin-1-as-utf-8": _bytes("Ä ö ü".encode("latin-1"), "text/html; charset=utf-8"),
        "surrogates": _bytes(b"<p>\xed\xa0\x80\xed\xbf\xbf", "text/html; charset=utf-8"),
        "overlong": _bytes(b"<p>\xc0\xbc\xe0\x80\xbc\xf0\x80\x80\xbc", "text/html; charset=utf-8"),
        "beyond": _bytes(b"<p>\xf8\x88\x80\x80\x80\xff\xfe", "text/html; charset=utf-8"),
        "nul": _bytes(b"<\0a\0 href=/\0x>\0" * 1_000),
        "escapes": _bytes(b"\x1b$B" * 20_000, "text/html; charset=iso-2022-jp"),
        "open-escape": _bytes(b"~{" * 20_000, "text/html; charset=hz"),
        "utf-7-tags": _bytes(b"+ADw-a href=/x+AD4-" * 1_000, "text/html; charset=utf-7"),
        "noise": _bytes(_noise(20_000)),
        "noise-megabyte": _bytes(_noise(1_000_000)),
        "cyrillic": _bytes(("<p>Привет, как дела? " * 20_000).encode("cp1251")),
    }


def pages() -> Pages:
    found = {f"header/{n}": whole(_TEXT, f"text/html; charset={name}") for n, name in _named()}
    found |= {f"meta/{number}": _meta(name) for number, name in _named()}
    found |= {f"type/{name}": whole(_TEXT, value) for name, value in _ODD_TYPES.items()}
    return found | _contradictions()


def _named() -> list[tuple[str, str]]:
    """With a number before each, because some cannot be part of a path."""
    return [(f"{number}-{name[:20].strip('./_')}", name) for number, name in enumerate(NAMES)]

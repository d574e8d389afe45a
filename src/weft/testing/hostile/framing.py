"""Broken HTTP: status lines, headers, lengths, chunks, and connections that break."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from weft.testing.hostile.answers import HostileAnswer, Pages, head, html, raw, stream, whole

_BODY = html("Framing").encode()
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_DRIP_S = 0.2


def _status(line: bytes) -> HostileAnswer:
    return raw(line + b"\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY)


def _headers(*lines: bytes) -> HostileAnswer:
    length = b"Content-Length: %d" % len(_BODY)
    return raw(b"\r\n".join([b"HTTP/1.1 200 OK", *lines, length, b"", _BODY]))


def _length(value: bytes) -> HostileAnswer:
    return raw(_OK + b"Content-Length: " + value + b"\r\n\r\n" + _BODY)


def _chunks(*data: bytes) -> HostileAnswer:
    return raw(_CHUNKED + b"".join(data))


def _coding(value: bytes) -> HostileAnswer:
    chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(_BODY), _BODY)
    return raw(_OK + b"Transfer-Encoding: " + value + b"\r\n\r\n" + chunk)


def _endless(first: bytes, again: bytes) -> HostileAnswer:
    return stream(lambda: chain([first], repeat(again)))


def _drip(data: bytes) -> HostileAnswer:
    pieces = [data[place : place + 1] for place in range(len(data))]
    return raw(*pieces, then="hang", pause_s=_DRIP_S)


def _many_headers(many: int) -> Iterable[bytes]:
    return (b"X-Header-%d: %d" % (number, number) for number in range(many))


def _numbered_headers() -> Iterator[bytes]:
    yield _OK
    number = 0
    while True:
        number += 1
        yield b"X-%d: y\r\n" % number


_STATUS_LINES = {
    "junk": b"HTTP/1.1 abc OK",
    "none": b"HTTP/1.1",
    "zero": b"HTTP/1.1 000 Zero",
    "two-digits": b"HTTP/1.1 20 OK",
    "four-digits": b"HTTP/1.1 2000 OK",
    "unknown": b"HTTP/1.1 299 Odd",
    "999": b"HTTP/1.1 999 Go away",
    "negative": b"HTTP/1.1 -200 OK",
    "no-reason": b"HTTP/1.1 200",
    "two-spaces": b"HTTP/1.1  200 OK",
    "long-reason": b"HTTP/1.1 200 " + b"x" * 100_000,
    "binary-reason": b"HTTP/1.1 200 \x00\xff\xfe",
    "version-9": b"HTTP/9.9 200 OK",
    "version-2": b"HTTP/2 200 OK",
    "version-junk": b"HTTP/x.y 200 OK",
    "lower": b"http/1.1 200 ok",
    "icy": b"ICY 200 OK",
    "space-first": b" HTTP/1.1 200 OK",
}
_HEADER_LINES = {
    "no-colon": [b"This line has none"],
    "only-colon": [b":"],
    "empty-name": [b": value"],
    "space-before-colon": [b"X-Odd : value"],
    "space-in-name": [b"X Odd: value"],
    "folded": [b"X-Odd: one", b" two", b"\tthree"],
    "folded-first": [b" two: three"],
    "null": [b"X-Odd: a\x00b"],
    "control": [b"X-\x01\x02: \x7f"],
    "binary": [b"X-Odd: " + bytes(range(128, 256))],
    "binary-name": [bytes(range(128, 256)) + b": x"],
    "long-name": [b"X" * 100_000 + b": x"],
    "long-value": [b"X-Odd: " + b"x" * 200_000],
    "megabyte": [b"X-Odd: " + b"x" * 1_000_000],
    "thousands": [*_many_headers(3_000)],
    "same": [b"X-Odd: x"] * 3_000,
    "bare-cr": [b"X-Odd: a\rX-Other: b"],
    "type-twice": [b"Content-Type: text/html", b"Content-Type: image/png"],
    "type-junk": [b"Content-Type: ;;;===///\x00"],
    "type-long": [b"Content-Type: text/html; x=" + b"y" * 100_000],
    "keep-alive-junk": [b"Keep-Alive: timeout=-1, max=99999999999999999999"],
    "connection-junk": [b"Connection: close, keep-alive, upgrade, \xff"],
}
_LENGTHS = {
    "negative": b"-5",
    "plus": b"+10",
    "junk": b"ten",
    "empty": b"",
    "float": b"10.5",
    "hex": b"0x10",
    "huge": b"999999999999999",
    "overflow": b"1" * 40,
    "endless-digits": b"9" * 10_000,
    "list": b"10, 10",
    "too-long": b"100000",
    "too-short": b"5",
    "zero": b"0",
    "spaces": b" 1 0 ",
    "twice": b"10\r\nContent-Length: 10",
    "contradiction": b"10\r\nContent-Length: 20",
    "with-chunks": b"10\r\nTransfer-Encoding: chunked",
}
_CHUNK_DATA = {
    "junk-size": [b"zz\r\nabc\r\n0\r\n\r\n"],
    "negative": [b"-5\r\nabcde\r\n0\r\n\r\n"],
    "huge": [b"ffffffffffffffff\r\nabc"],
    "overflow": [b"f" * 40 + b"\r\nabc"],
    "prefix": [b"0x5\r\nabcde\r\n0\r\n\r\n"],
    "empty-size": [b"\r\nabc\r\n0\r\n\r\n"],
    "no-line-end": [b"5\r\nabcde0\r\n\r\n"],
    "no-last": [b"5\r\nabcde\r\n"],
    "cut": [b"1000\r\nabc"],
    "extension": [b"5;" + b"x" * 100_000 + b"\r\nabcde\r\n0\r\n\r\n"],
    "trailers": [b"5\r\nabcde\r\n0\r\n", b"X-Trailer: x\r\n" * 5_000, b"\r\n"],
    "trailer-junk": [b"5\r\nabcde\r\n0\r\n\xff\xfe\x00\r\n\r\n"],
    "tiny": [b"1\r\n<\r\n" * 20_000, b"0\r\n\r\n"],
    "size-only": [b"0" * 100_000],
}
_CODINGS = {
    "junk": b"junk",
    "twice": b"chunked, chunked",
    "identity": b"identity",
    "chunked-identity": b"chunked, identity",
    "gzip-chunked": b"gzip, chunked",
    "empty": b"",
    "quoted": b'"chunked"',
    "spaces": b"  chunked  ",
    "control": b"chunked\x0b",
}


def pages() -> Pages:
    found: dict[str, HostileAnswer] = {
        f"status/{n}": _status(line) for n, line in _STATUS_LINES.items()
    }
    found |= {f"header/{name}": _headers(*lines) for name, lines in _HEADER_LINES.items()}
    found |= {f"length/{name}": _length(value) for name, value in _LENGTHS.items()}
    found |= {f"chunk/{name}": _chunks(*data) for name, data in _CHUNK_DATA.items()}
    found |= {f"coding/{name}": _coding(value) for name, value in _CODINGS.items()}
    return found | _CONNECTIONS | _SLOW | _MORE


_CONNECTIONS: dict[str, HostileAnswer] = {
    "nothing": raw(),
    "reset": raw(then="reset"),
    "half-head": raw(_OK[:20]),
    "head-only": raw(_OK + b"Content-Length: 100\r\n\r\n"),
    "reset-in-body": raw(_OK + b"Content-Length: 100000\r\n\r\n" + _BODY, then="reset"),
    "no-head": raw(_BODY),
    "http-0.9": raw(b"<title>0.9</title>" * 10),
    "tls": raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "http2": raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    "smtp": raw(b"220 mail.example ESMTP\r\n"),
    "ssh": raw(b"SSH-2.0-OpenSSH_9.0\r\n"),
    "binary": raw(bytes(range(256)) * 100),
    "line-ends": raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + _BODY),
    "carriage-returns": raw(b"HTTP/1.1 200 OK\rContent-Type: text/html\r\r" + _BODY),
    "empty-lines-first": raw(b"\r\n\r\n\r\n" + _OK + b"\r\n" + _BODY),
}
_SLOW: dict[str, HostileAnswer] = {
    "silence": raw(then="hang"),
    "silence-after-head": raw(_OK + b"Content-Length: 100\r\n\r\n", then="hang"),
    "drip-head": _drip(_OK * 20),
    "drip-body": _drip(_OK + b"\r\n" + _BODY * 20),
    "drip-chunks": raw(_CHUNKED, *[b"1\r\nx\r\n"] * 400, then="hang", pause_s=_DRIP_S),
    "endless-body": _endless(_OK + b"\r\n", b"<p>more</p>" * 5_000),
    "endless-chunks": _endless(_CHUNKED, b"5\r\n<br/>\r\n" * 1_000),
    "endless-headers": stream(_numbered_headers),
    "endless-header": _endless(_OK + b"X-Long: ", b"x" * 10_000),
    "endless-status": _endless(b"HTTP/1.1 200 ", b"x" * 10_000),
    "endless-trailers": _endless(_CHUNKED + b"1\r\nx\r\n0\r\n", b"X-Trailer: x\r\n" * 100),
    "endless-extension": _endless(_CHUNKED + b"5;", b"x" * 10_000),
    "endless-continue": _endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
}
_MORE: dict[str, HostileAnswer] = {
    "continue": raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000 + head(length=len(_BODY)) + _BODY),
    "hints": raw(
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100 + head(length=len(_BODY)) + _BODY
    ),
    "upgrade": raw(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\njunk"
    ),
    "no-type": raw(head("", length=len(_BODY)) + _BODY),
    "no-content-with-body": raw(head(status="204 No Content", length=len(_BODY)) + _BODY),
    "not-modified-with-body": raw(head(status="304 Not Modified", length=len(_BODY)) + _BODY),
    "reset-content": whole("", status="205 Reset Content"),
    "partial": whole(_BODY, "text/html", "Content-Range: bytes 0-10/5", status="206 Partial"),
    # Bytes after an answer must not be taken for the answer to the next request.
    "answer-twice": raw((head(length=len(_BODY)) + _BODY) * 2, then="keep"),
    "poison": raw(
        head(length=len(_BODY)) + _BODY + head(length=16) + b"<title>poison!</", then="keep"
    ),
    "junk-after": raw(head(length=len(_BODY)) + _BODY + b"\x00\xff junk" * 1_000, then="keep"),
    "closed-though-kept": raw(head(length=len(_BODY)) + _BODY),
}

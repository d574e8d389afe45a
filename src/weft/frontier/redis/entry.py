"""A request as it waits in Redis: as few bytes as possible, opaque to the scripts.

Host and page kind are the queue's, and are not stored again; nor is the beginning of the URL that
the host gives, nor trailing values that are the usual ones.
"""

import random

import msgspec

from weft.records import PackedRequest, PageKind

_encode = msgspec.msgpack.Encoder().encode
_SCHEMES = ("http://", "https://")
#: What may follow the host in a URL, or nothing. If anything else does, it is another host, whose
#: name begins so; and what is stored must not mean another URL under that one's name.
_AFTER_HOST = "/:?#"


class Entry(msgspec.Struct, frozen=True, array_like=True):
    fingerprint: int
    #: What follows `http://HOST` (0) or `https://HOST` (1), or the whole URL (2).
    start: int
    rest: str
    #: When it was added.
    at_ms: int
    found_on: int = 0
    payload: bytes = b""
    priority: int = 0
    url_fingerprint: int = 0
    is_forced: bool = False
    #: Tells forced requests apart that are the same otherwise: a Redis set keeps equals once.
    nonce: int = 0

    def request(self, host: str, kind: PageKind) -> PackedRequest:
        is_whole = self.start == len(_SCHEMES)
        return PackedRequest(
            fingerprint=self.fingerprint,
            url=self.rest if is_whole else f"{_SCHEMES[self.start]}{host}{self.rest}",
            host=host,
            kind=kind,
            priority=self.priority,
            payload=self.payload,
            found_on=self.found_on,
            is_forced=self.is_forced,
            url_fingerprint=self.url_fingerprint,
        )


_decoder = msgspec.msgpack.Decoder(Entry)


def pack(request: PackedRequest, at_ms: int) -> bytes:
    nonce = random.getrandbits(32) if request.is_forced else 0
    return encode(entry_of(request, at_ms, nonce))


def entry_of(request: PackedRequest, at_ms: int, nonce: int) -> Entry:
    start, rest = _shorten(request.url, request.host)
    return Entry(
        fingerprint=request.fingerprint,
        start=start,
        rest=rest,
        at_ms=at_ms,
        found_on=request.found_on,
        payload=request.payload,
        priority=request.priority,
        url_fingerprint=request.url_fingerprint,
        is_forced=request.is_forced,
        nonce=nonce,
    )


def encode(entry: Entry) -> bytes:
    """The entry without trailing values that are the usual ones."""
    values = list(msgspec.structs.astuple(entry))
    while values[-1] == 0 or values[-1] == b"":
        values.pop()
    return _encode(values)


def unpack(packed: bytes) -> Entry:
    return _decoder.decode(packed)


def _shorten(url: str, host: str) -> tuple[int, str]:
    for number, scheme in enumerate(_SCHEMES):
        # An empty host stands in every URL.
        if host and url.startswith(scheme) and url.startswith(host, len(scheme)):
            rest = url[len(scheme) + len(host) :]
            if rest[:1] in _AFTER_HOST:
                return number, rest
    return len(_SCHEMES), url

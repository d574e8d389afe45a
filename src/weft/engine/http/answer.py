"""The answer of a server, as far as it has come."""

from dataclasses import dataclass, field

from scrapy.http import Headers

#: Header names to cache; servers could send any number of them.
MAX_NAMES = 10_000
#: Smaller pieces of a body are joined.
SMALL_BYTES = 1_024

CONNECTION = b"Connection"
CONTENT_LENGTH = b"Content-Length"
TRANSFER_ENCODING = b"Transfer-Encoding"

# These belong to the connection, not to the page: Scrapy's handler shows none of them, either.
_CONTROL = frozenset(
    (
        CONNECTION,
        CONTENT_LENGTH,
        TRANSFER_ENCODING,
        b"Keep-Alive",
        b"Proxy-Connection",
        b"Te",
        b"Trailers",
        b"Upgrade",
    )
)
_WITHOUT_BODY = frozenset((204, 304))

_normalized: dict[bytes, bytes] = {}


@dataclass(slots=True)
class Answer:
    #: Whether it answers a HEAD request.
    is_head: bool
    status: int = 0
    version: str = ""
    #: By name, as Scrapy writes it.
    fields: dict[bytes, list[bytes]] = field(default_factory=dict)
    #: The same for those that belong to the connection.
    control: dict[bytes, list[bytes]] = field(default_factory=dict)
    #: The size of the body according to the head; None if it does not say.
    length: int | None = None
    #: The end of the body can be distinguished from the end of the connection.
    is_framed: bool = False
    #: The first piece is bytes, so that an answer in one piece need not be copied.
    body: list[bytes | bytearray] = field(default_factory=list)

    def add(self, name: bytes, value: bytes) -> None:
        key = _normalized.get(name) or _normalize(name)
        fields = self.control if key in _CONTROL else self.fields
        fields.setdefault(key, []).append(value.strip())

    def add_body(self, data: bytes) -> None:
        """Join small pieces: an object for each byte would take forty times as much memory."""
        pieces = self.body
        if len(data) >= SMALL_BYTES or not pieces:
            pieces.append(data)
        elif isinstance(pieces[-1], bytearray):
            pieces[-1] += data
        else:
            pieces.append(bytearray(data))

    def forget_head(self) -> None:
        self.fields.clear()
        self.control.clear()

    def read_framing(self) -> None:
        """Called as soon as the head is complete."""
        is_encoded = TRANSFER_ENCODING in self.control
        if self.is_head or self.status in _WITHOUT_BODY:
            self.length = 0
        elif not is_encoded and CONTENT_LENGTH in self.control:
            self.length = int(self.control[CONTENT_LENGTH][0])
        self.is_framed = self.length is not None or _is_chunked(self.control)

    @property
    def wants_close(self) -> bool:
        tokens = b",".join(self.control.get(CONNECTION, ())).lower().split(b",")
        return any(token.strip() == b"close" for token in tokens)

    def headers(self) -> Headers:
        """The headers as Scrapy's handler shows them: a known length comes first, and always."""
        headers = Headers()
        if self.length is not None:
            shown = self.control.get(CONTENT_LENGTH) if self.is_head else None
            dict.__setitem__(headers, CONTENT_LENGTH, shown or [b"%d" % self.length])
        # Not with Headers.update(), which would normalize names and copy values once more.
        dict.update(headers, self.fields)
        return headers


def _normalize(name: bytes) -> bytes:
    key = name.title()
    if len(_normalized) < MAX_NAMES:
        _normalized[name] = key
    return key


def _is_chunked(control: dict[bytes, list[bytes]]) -> bool:
    encodings = b",".join(control.get(TRANSFER_ENCODING, ()))
    return encodings.rpartition(b",")[2].strip().lower() == b"chunked"

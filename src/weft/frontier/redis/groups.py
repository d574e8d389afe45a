"""Groups of claims, as claims.lua has them."""

from collections.abc import Iterable

import msgspec


class Head(msgspec.Struct, frozen=True, array_like=True):
    kind: int
    host: str
    owner: str
    level: str
    #: A 1 for each that is still a claim.
    alive: str
    #: The tokens that were handed out together with it, `FIRST:LAST`.
    batch: str


_decoder = msgspec.msgpack.Decoder(Head)


def unpack_head(packed: bytes) -> Head:
    return _decoder.decode(packed)


def marks_text(indexes: Iterable[int]) -> str:
    """A text with a 1 at each of these indexes, from 1, and a 0 elsewhere."""
    text = ""
    for index in sorted(set(indexes)):
        text = text.ljust(index - 1, "0") + "1"
    return text


def is_set(text: str, index: int) -> bool:
    return text[index - 1 : index] == "1"

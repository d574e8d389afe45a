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


def places_text(places: Iterable[int]) -> str:
    """A text with a 1 at each of these places, from 1, and a 0 elsewhere."""
    text = ""
    for place in sorted(set(places)):
        text = text.ljust(place - 1, "0") + "1"
    return text


def is_set(text: str, place: int) -> bool:
    return text[place - 1 : place] == "1"

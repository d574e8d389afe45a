"""The open RocksDB of a frontier, as it is read."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, cast

import msgspec
from rocksdict import Rdict

from weft.frontier.rocks.layout import FAMILIES, HOURS, META
from weft.records import Hour, Stats

if TYPE_CHECKING:
    from weft.frontier.turns import Visitors

_decode = msgspec.msgpack.decode


class Meta(msgspec.Struct, array_like=True):
    """Counters, and the last token that was given out."""

    stats: Stats
    last_token: int = 0


class RocksDb:
    """The open RocksDB with its families at hand."""

    def __init__(self, db: Rdict, families: Sequence[str] = FAMILIES) -> None:
        """`families`: those that there are; a store of an older Weft that is only read may lack
        some."""
        self.db = db
        self.families = {name: db.get_column_family(name) for name in families}
        self.handles = {name: db.get_column_family_handle(name) for name in families}
        #: Who takes turns of hosts. Nobody but this process does, so it is not worth a write.
        self.visitors: dict[str, Visitors] = {}

    def meta(self) -> Meta:
        raw = self.db.get(META)
        return Meta(Stats()) if raw is None else _decode(raw, type=Meta)

    def hours(self) -> list[Hour]:
        """The oldest first."""
        found = cast(Iterator[tuple[bytes, bytes]], self.db.items(from_key=HOURS))
        return [
            _decode(raw, type=Hour)
            for _, raw in takewhile(lambda pair: pair[0].startswith(HOURS), found)
        ]

    def walk(self, family: str, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Keys and values from `start` on."""
        if family not in self.families:
            return iter(())
        return cast(Iterator[tuple[bytes, bytes]], self.families[family].items(from_key=start))

    def under(self, family: str, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Keys that begin so, and their values."""
        return takewhile(lambda pair: pair[0].startswith(prefix), self.walk(family, prefix))

"""A unit of work on the database: it reads through its own writes and commits as one batch."""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from rocksdict import Rdict, WriteBatch

from weft.frontier.policy import HostRecord, sum_hours
from weft.frontier.rocks.layout import (
    FAMILIES,
    HOSTS,
    HOURS,
    HOURS_END,
    KEYS,
    KEYS_END,
    LEVELS,
    Ring,
    hour_key,
    key_key,
)
from weft.records import Hour, Stats

if TYPE_CHECKING:
    from weft.frontier.turns import Visitors

Record = TypeVar("Record")

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.decode

_META = b"meta"
_EMPTY = Ring(0, 0)


class Meta(msgspec.Struct, array_like=True):
    """Counters, and the last token that was given out."""

    stats: Stats
    last_token: int = 0


class Database:
    """The open RocksDB with its families at hand."""

    def __init__(self, db: Rdict) -> None:
        self.db = db
        self.families = {name: db.get_column_family(name) for name in FAMILIES}
        self.handles = {name: db.get_column_family_handle(name) for name in FAMILIES}
        #: Who takes turns of hosts. Nobody but this process does, so it is not worth a write.
        self.visitors: dict[str, Visitors] = {}

    def meta(self) -> Meta:
        raw = self.db.get(_META)
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
        return cast(Iterator[tuple[bytes, bytes]], self.families[family].items(from_key=start))

    def under(self, family: str, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Keys that begin so, and their values."""
        return takewhile(lambda pair: pair[0].startswith(prefix), self.walk(family, prefix))


class Unit:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._writes: dict[tuple[str, bytes], bytes | None] = {}
        self._hosts: dict[str, HostRecord] = {}
        # prefix of a queue → level → ring, for the levels that this unit has touched
        self._rings: dict[bytes, dict[bytes, Ring]] = {}
        self._meta = database.meta()
        self._batch = WriteBatch(raw_mode=True)
        self._fixed: dict[str, bytes] = {}

    @property
    def stats(self) -> Stats:
        return self._meta.stats

    def reset_stats(self) -> None:
        self._meta.stats = Stats()

    def add_hour(self, hour: Hour) -> None:
        """Once in a unit."""
        key = hour_key(hour.start_ms)
        raw = self._database.db.get(key)
        if raw is not None:
            [hour] = sum_hours([_decode(raw, type=Hour), hour])
        self._batch.put(key, _encode(hour))

    def forget_hours(self) -> None:
        self._batch.delete_range(HOURS, HOURS_END)

    # Host keys

    def fixed_key(self, name: str) -> str:
        """The key of a host name; empty: none was given."""
        raw = self._fixed.get(name) or self._database.db.get(key_key(name))
        return raw.decode() if raw else ""

    def fix_key(self, name: str, key: str) -> None:
        self._fixed[name] = key.encode()
        self._batch.put(key_key(name), self._fixed[name])

    def forget_keys(self) -> None:
        self._batch.delete_range(KEYS, KEYS_END)

    def next_token(self) -> int:
        self._meta.last_token += 1
        return self._meta.last_token

    # Plain records

    def get(self, family: str, key: bytes) -> bytes | None:
        if (family, key) in self._writes:
            return self._writes[family, key]
        value: bytes | None = self._database.families[family].get(key)
        return value

    def load(self, family: str, key: bytes, kind: type[Record]) -> Record | None:
        raw = self.get(family, key)
        return None if raw is None else _decode(raw, type=kind)

    def load_row(self, family: str, keys: Sequence[bytes], kind: type[Record]) -> list[Record]:
        """The records of keys that stand side by side in the database and that this unit has not
        touched: a walk that has begun finds one in an eighth of the time."""
        row = [*islice(self._database.walk(family, keys[0]), len(keys))]
        assert [key for key, _ in row] == keys, "a row of keys has gaps"
        return [_decode(raw, type=kind) for _, raw in row]

    def put(self, family: str, key: bytes, value: bytes) -> None:
        self._writes[family, key] = value

    def save(self, family: str, key: bytes, record: object) -> None:
        self.put(family, key, _encode(record))

    def delete(self, family: str, key: bytes) -> None:
        self._writes[family, key] = None

    def delete_range(self, family: str, begin: bytes, end: bytes) -> None:
        """Delete what the database holds in this range; what this unit writes there stays."""
        self._batch.delete_range(begin, end, self._database.handles[family])

    # Host records

    def host(self, name: str) -> HostRecord:
        record = self._hosts.get(name)
        if record is None:
            record = self.load(HOSTS, name.encode(), HostRecord)
            if record is None:
                record = HostRecord()
                self.stats.hosts += 1
            record.is_visited = name in self._database.visitors
            self._hosts[name] = record
        return record

    # Rings

    def ring(self, prefix: bytes, level: bytes) -> Ring:
        rings = self._rings.setdefault(prefix, {})
        if level not in rings:
            raw = self._database.families[LEVELS].get(level)
            rings[level] = _EMPTY if raw is None else _decode(raw, type=Ring)
        return rings[level]

    def set_ring(self, prefix: bytes, level: bytes, ring: Ring) -> None:
        self._rings.setdefault(prefix, {})[level] = ring

    def first_level(self, prefix: bytes) -> bytes | None:
        """The level that is served first: in the database or in this unit."""
        touched = self._rings.get(prefix, {})
        mine = [level for level, ring in touched.items() if ring.head < ring.tail]
        stored = (level for level, _ in self._database.under(LEVELS, prefix))
        mine += islice((level for level in stored if level not in touched), 1)
        return min(mine, default=None)

    def commit(self) -> None:
        handles = self._database.handles
        for name, record in self._hosts.items():
            self.save(HOSTS, name.encode(), record)
        for rings in self._rings.values():
            for level, ring in rings.items():
                self._writes[LEVELS, level] = _encode(ring) if ring.head < ring.tail else None
        for (family, key), value in self._writes.items():
            if value is None:
                self._batch.delete(key, handles[family])
            else:
                self._batch.put(key, value, handles[family])
        self._batch.put(_META, _encode(self._meta))
        self._database.db.write(self._batch)

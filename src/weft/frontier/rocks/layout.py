"""Where everything stands in the RocksDB of a frontier.

family   key                      value          what
-------  -----------------------  -------------  ----------------------------------
default  name                     msgpack        format, counters, last token, host key
default  `hour:` time             Hour           what was finished within an hour
default  `key:` host name         host key       those that were fixed
queue    host NUL kind level seq  PackedRequest  the rings
levels   host NUL kind level      Ring           which part of a ring is in use
hosts    host                     HostRecord     budgets
ready    time host                               hosts that can be claimed, in line
seen     fingerprint              SeenRecord           every URL that was ever queued
claims   token                    Claim          what is in hand
bad      fingerprint              time           failed URLs, when to try again
dropped  fingerprint              Drop           URLs that a rule kept out
fetched  fingerprint token        History        what became of URLs, by claim
waiting  time fingerprint token   PackedRequest  pages that are due again at that time, by claim

Integers in keys are 8 bytes, big-endian, so that they sort. A level is a priority, turned over so
that the highest comes first. A ring is read and written by position only: deleted entries at its
head are never walked over, so it costs the same whether ten or ten million have passed through.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from rocksdict import BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, Options

from weft.records import Fetch, PageKind

#: Raised whenever an older Weft could not read what this one writes.
FORMAT = 3
#: What is written where host keys are host names: a Weft that knows no others reads that too.
PLAIN_FORMAT = 2
#: Older ones that are read as they are: in the first, all that became of a URL was one record.
OLDER_FORMATS = (1, PLAIN_FORMAT)

QUEUE = "queue"
LEVELS = "levels"
HOSTS = "hosts"
READY = "ready"
SEEN = "seen"
CLAIMS = "claims"
BAD = "bad"
DROPPED = "dropped"
FETCHED = "fetched"
WAITING = "waiting"
#: Those that a store of an older Weft lacks until it is opened for writing.
LATER_FAMILIES = (WAITING,)
FAMILIES = (QUEUE, LEVELS, HOSTS, READY, SEEN, CLAIMS, BAD, DROPPED, FETCHED, *LATER_FAMILIES)

#: The key of the counters.
META = b"meta"
#: What the keys of hours begin with, and what sorts after them: they are few, and stand in the
#: default family, so that an older Weft can open the store too.
HOURS = b"hour:"
HOURS_END = b"hour;"
#: The same of host names whose keys were fixed.
KEYS = b"key:"
KEYS_END = b"key;"

#: Sorts after every key.
END = b"\xff" * 32

# Families whose live keys are few but change all the time are walked from their first key. A small
# write buffer bounds the number of deleted keys that such a walk can meet.
_WALKED = frozenset({LEVELS, READY, CLAIMS, WAITING})
_WALKED_BUFFER_BYTES = 256 << 10
# URLs are asked for in any order, and most of those that come here are new: filters say so. They
# come in small parts: whole ones, read for each question when they do not fit into the cache
# together, made a new URL cost 139 µs at 1.5 million URLs, and more with each.
_FILTER_BITS = 10
# Together they bound the memory of an open store, whatever its size.
_BUFFER_BYTES = 2 << 20
_ALL_BUFFERS_BYTES = 8 << 20
_CACHE_BYTES = 8 << 20
_WAL_BYTES = 64 << 20

_OFFSET = 1 << 63


class Ring(NamedTuple):
    """The positions head ≤ seq < tail of a level are in use."""

    head: int
    tail: int


class SeenRecord(msgspec.Struct, frozen=True, array_like=True):
    kind: PageKind
    at_ms: int
    found_on: int


class Drop(msgspec.Struct, frozen=True, array_like=True):
    rule: str
    at_ms: int
    url: str


class History(msgspec.Struct, frozen=True, array_like=True):
    """One fetch; several where an older Weft kept all of a URL under its fingerprint alone."""

    url: str
    fetches: list[Fetch]


def number_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def fetched_key(fingerprint: int, token: int) -> bytes:
    return number_key(fingerprint) + number_key(token)


def waiting_key(at_ms: int, fingerprint: int, token: int) -> bytes:
    return number_key(at_ms) + fetched_key(fingerprint, token)


def due_at_ms(waiting_key: bytes) -> int:
    return int.from_bytes(waiting_key[:8], "big")


def queue_prefix(host: str, kind: PageKind) -> bytes:
    return host.encode() + b"\0" + bytes((kind,))


def hour_key(start_ms: int) -> bytes:
    return HOURS + number_key(start_ms)


def key_key(name: str) -> bytes:
    return KEYS + name.encode(errors="surrogatepass")


def level_key(prefix: bytes, priority: int) -> bytes:
    return prefix + (_OFFSET - 1 - priority).to_bytes(8, "big")


def entry_key(level: bytes, seq: int) -> bytes:
    return level + (seq + _OFFSET).to_bytes(8, "big")


def ready_key(at_ms: int, host: str) -> bytes:
    return number_key(at_ms) + host.encode()


def rocks_options() -> Options:
    options = _options(_BUFFER_BYTES)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_db_write_buffer_size(_ALL_BUFFERS_BYTES)
    options.set_max_total_wal_size(_WAL_BYTES)
    options.set_max_open_files(256)
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1 << 20)
    options.set_max_background_jobs(2)
    return options


def family_options(names: Iterable[str] = FAMILIES) -> dict[str, Options]:
    cache = Cache(_CACHE_BYTES)
    families = {}
    for name in names:
        options = _options(_WALKED_BUFFER_BYTES if name in _WALKED else _BUFFER_BYTES)
        table = BlockBasedOptions()
        table.set_block_cache(cache)
        table.set_cache_index_and_filter_blocks(True)
        if name == SEEN:
            table.set_bloom_filter(_FILTER_BITS, False)
            table.set_partition_filters(True)
            table.set_index_type(BlockBasedIndexType.two_level_index_search())
            table.set_pin_top_level_index_and_filter(True)
        options.set_block_based_table_factory(table)
        families[name] = options
    return families


def _options(buffer_bytes: int) -> Options:
    options = Options(raw_mode=True)
    options.set_write_buffer_size(buffer_bytes)
    options.set_compression_type(DBCompressionType.lz4())
    return options


def is_rocks(path: Path) -> bool:
    return (path / "CURRENT").exists()

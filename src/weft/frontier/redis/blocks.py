"""Many small records in one compressed block, column by column: like stands beside like."""

import sys
from collections.abc import Sequence
from typing import TypeVar

import msgspec

if sys.version_info >= (3, 14):  # pragma: no cover - depends on the Python
    from compression import zstd
else:  # pragma: no cover - depends on the Python
    from backports import zstd

Record = TypeVar("Record", bound=msgspec.Struct)

#: How hard to compress what is kept for long, and what soon becomes a part of something bigger.
LEVEL = 9
QUICK_LEVEL = 1
_encode = msgspec.msgpack.Encoder().encode


def compress(records: Sequence[msgspec.Struct], level: int = LEVEL) -> bytes:
    columns = list(zip(*map(msgspec.structs.astuple, records), strict=True))
    return zstd.compress(_encode(columns), level)


def decompress(block: bytes, record: type[Record]) -> list[Record]:
    columns = msgspec.msgpack.decode(zstd.decompress(block), type=list[list[object]])
    return [record(*row) for row in zip(*columns, strict=True)]

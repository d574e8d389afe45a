"""Where items go: the contract of a sink."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class KeyedItem(msgspec.Struct, frozen=True):
    """An item and its identity: two items with equal keys are the same item."""

    #: 16 bytes.
    key: bytes
    #: Plain data; what JSON does not know is stored as its `str()`.
    fields: dict[str, object]


class Sink(Protocol):
    """Stores items, each exactly once, on disk.

    * **Durable.** `store` returns only when the items are on disk (fsync). From then on neither
      `kill -9` nor a power failure loses them.
    * **Idempotent.** Storing an item whose key is known never makes a second one. Which of the two
      stays is the sink's to say: SQLite keeps the newer, JSON lines the first. A batch may hold
      the same key twice.
    * **Interruptible.** A `store` that dies at any instruction has stored nothing, some or all of
      its batch, and never half an item. Storing the batch again after the next `open` leaves each
      of its items exactly once.
    * **Retryable.** A `store` that fails raises `StoreError` (`StoreFullError` if the disk is
      full) and has stored nothing, some or all of its batch. It may be called again, with the
      same items or others, without closing the sink first.
    * **In order.** Calls take effect one after the other, off the event loop. A cancelled call may
      still take effect, but before the next one.

    Construction does no I/O. `close` may be called on a sink that is not open; a closed sink can be
    opened again. An `open` that fails leaves nothing open.
    """

    async def open(self) -> None: ...

    async def store(self, items: Sequence[KeyedItem]) -> None: ...

    async def clear(self) -> None:
        """Remove all items: a crawl starts over."""
        ...

    async def close(self) -> None: ...

"""Where items go: the contract of a sink."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec


class KeyedItem(msgspec.Struct, frozen=True):
    """An item and its identity: two items with equal keys are the same item."""

    #: 16 bytes.
    key: bytes
    #: Plain data; what JSON does not know is stored as its `str()`.
    fields: dict[str, object]
    #: URL of the page that it was found on; empty if it was found on none.
    page: str = ""
    #: When that page was fetched; 0: nobody knows.
    fetched_at_ms: int = 0
    #: The fields that the class of the item has, with their types as far as it tells them.
    declared: Mapping[str, type | None] | None = None


class Refusal(NamedTuple):
    """An item that a sink can never store."""

    item: KeyedItem
    reason: str


class Schema(StrEnum):
    """What becomes of a table when items have fields that it has not, or of other types."""

    #: It gets the columns.
    OPEN = "open"
    #: The items are refused.
    STRICT = "strict"


class SinkConfig(msgspec.Struct, frozen=True):
    """What sinks of one job have in common."""

    #: Where they keep what they have to remember.
    job_dir: Path
    #: The job's name: a sink may hold items of several.
    job: str = ""
    #: Whether all workers of `job_dir` may have a sink open at once.
    is_shared: bool = False
    #: Whether tables stay as they are: items with other fields are refused.
    is_strict: bool = False


class Sink(Protocol):
    """Stores items, each exactly once, durably.

    * **Durable.** `store` returns only when the items are on disk (fsync), or a server has said
      so. From then on neither `kill -9` nor a power failure loses them.
    * **Idempotent.** Storing an item whose key is known never makes a second one. Which of the two
      stays is the sink's to say: databases keep the newer, JSON lines the first. A batch may hold
      the same key twice.
    * **Interruptible.** A `store` that dies at any instruction has stored nothing, some or all of
      its batch, and never half an item. Storing the batch again after the next `open` leaves each
      of its items exactly once.
    * **Retryable.** A `store` that fails raises `StoreError` (`SinkDownError` if a server cannot be
      reached, `StoreFullError` if the disk is full) and has stored nothing, some or all of its
      batch. It may be called again, with the same items or others, without closing the sink first.
    * **Refusing.** Items that can never be stored (too large, of a wrong type) are returned, each
      with the reason. All others of the batch are stored.
    * **In order.** Calls take effect one after the other, off the event loop; the items of a batch
      too. A cancelled call may still take effect, but before the next one.

    Construction does no I/O. `open` tells whatever would keep items from being stored, as far as it
    can be known: a wrong password, a missing right. `close` may be called on a sink that is not
    open; a closed sink can be opened again. An `open` that fails leaves nothing open. Only a sink
    that has got something to store, an empty batch at least, has to show what it has when it is
    closed: until then nobody knows whether the crawl can begin.
    """

    @property
    def place(self) -> str:
        """Where the items are, as it may be shown: without a password."""
        ...

    async def open(self) -> None: ...

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]: ...

    async def clear(self) -> None:
        """Remove all items of the job: its crawl starts over."""
        ...

    async def close(self) -> None: ...

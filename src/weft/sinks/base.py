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
    #: Plain data; values that JSON does not support are stored as their `str()`.
    fields: dict[str, object]
    #: URL of the page it was found on; empty if there is none.
    page: str = ""
    #: When that page was fetched; 0: unknown.
    fetched_at_ms: int = 0
    #: The fields that the item class declares, with their types where it gives them.
    declared: Mapping[str, type | None] | None = None


class Refusal(NamedTuple):
    """An item that a sink can never store."""

    item: KeyedItem
    reason: str


class Schema(StrEnum):
    """What happens to a table when items have fields or types that it lacks."""

    #: Columns are added.
    OPEN = "open"
    #: The items are refused.
    STRICT = "strict"


class SinkConfig(msgspec.Struct, frozen=True):
    """What the sinks of one job have in common."""

    #: Where they keep their own state.
    job_dir: Path
    #: The job's name: one sink may hold items of several jobs.
    job: str = ""
    #: Whether all workers of `job_dir` may have a sink open at once.
    is_shared: bool = False
    #: Whether tables stay as they are, and items with other fields are refused.
    is_strict: bool = False


class Sink(Protocol):
    """Stores items durably, each exactly once.

    * **Durable.** `store` returns only when the items are on disk (fsync), or a server has
      confirmed that. After that neither `kill -9` nor a power failure loses them.
    * **Idempotent.** Storing an item whose key is known never makes a second one. The sink decides
      which of the two it keeps: databases keep the newer, JSON lines the first. A batch may contain
      the same key twice.
    * **Interruptible.** A `store` that dies at any instruction has stored none, some or all of its
      batch, and never half an item. Storing the batch again after the next `open` leaves each of
      its items exactly once.
    * **Retryable.** A `store` that fails raises `StoreError` (`SinkDownError` if a server cannot be
      reached, `StoreFullError` if the disk is full) and has stored none, some or all of its batch.
      It may be called again, with the same items or others, without closing the sink first.
    * **Refusing.** Items that can never be stored (too large, wrong type) are returned, each with
      the reason. All others of the batch are stored.
    * **In order.** Calls, and the items of a batch, take effect one after the other, off the event
      loop. A cancelled call may still take effect, but before the next one.

    Construction does no I/O. `open` raises for anything known to prevent items from being stored,
    such as a wrong password or a missing right. An `open` that fails leaves nothing open. `close`
    may be called on a sink that is not open. A closed sink can be opened again. `close` has to make
    the items visible only if `store` was called, even with an empty batch: until then it is not
    known whether the crawl can start.
    """

    @property
    def place(self) -> str:
        """Where the items are, safe to display: without a password."""
        ...

    async def open(self) -> None: ...

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]: ...

    async def clear(self) -> None:
        """Remove all items of the job, because its crawl starts over."""
        ...

    async def close(self) -> None: ...

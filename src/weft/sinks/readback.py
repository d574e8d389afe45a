"""Reading items back: the interface of the sinks that support it."""

from collections.abc import AsyncIterator, Generator
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import msgspec

from weft.thread import WorkThread

#: Items read at a time.
BATCH = 500


class StoredItem(msgspec.Struct, frozen=True):
    """An item as it was stored. What the sink does not keep is empty."""

    #: In hexadecimal.
    key: str
    job: str
    #: URL of the page it was found on.
    page: str
    #: When that page was fetched; 0: unknown.
    fetched_at_ms: int
    fields: dict[str, Any]


class Query(msgspec.Struct, frozen=True):
    """Which items are wanted."""

    #: Only those of this job; empty: of all jobs.
    job: str = ""
    #: Only those whose page was fetched then or later; 0: all.
    since_ms: int = 0


@runtime_checkable
class ReadableSink(Protocol):
    """A sink whose items can be read back, even while a crawl writes to it."""

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        """Yield the items in the order of the sink. It connects by itself, whether or not the sink
        is open, and writes nothing. Raises StoreMissingError if there is nothing to read, and
        StoreError if reading fails or the sink does not keep what the query needs."""
        ...


async def read_off_loop(items: Generator[StoredItem]) -> AsyncIterator[StoredItem]:
    """For sinks whose reads block: run the generator in a thread of its own from start to end."""
    thread = WorkThread("weft-read")
    try:
        while batch := await thread.run(lambda: list(islice(items, BATCH))):
            for item in batch:
                yield item
    finally:
        try:
            await thread.run(items.close)
        finally:
            thread.stop()

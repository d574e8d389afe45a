"""Reading items back: what a sink that can do it has to offer."""

from collections.abc import AsyncIterator, Generator
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import msgspec

from weft.thread import WorkThread

#: Items that are read at a time.
BATCH = 500


class StoredItem(msgspec.Struct, frozen=True):
    """An item as it was stored. What the sink does not keep is empty."""

    #: In hexadecimal digits.
    key: str
    job: str
    #: URL of the page that it was found on.
    page: str
    #: When that page was fetched; 0: nobody knows.
    fetched_at_ms: int
    fields: dict[str, Any]


class Query(msgspec.Struct, frozen=True):
    """Which items are wanted."""

    #: Those of this job; empty: of all.
    job: str = ""
    #: Those whose page was fetched then or later; 0: all.
    since_ms: int = 0


@runtime_checkable
class ReadableSink(Protocol):
    """A sink whose items can be read back, while a crawl writes to it and otherwise."""

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        """The items in the order of the sink. It connects by itself, whether or not the sink is
        open, and writes nothing. Raises StoreMissingError if there is nothing to read, and
        StoreError if that cannot be read or the sink does not keep what is asked for."""
        ...


async def read_off_loop(items: Generator[StoredItem]) -> AsyncIterator[StoredItem]:
    """For sinks whose reading blocks: it is done in a thread of its own, from its first line to the
    end of the generator."""
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

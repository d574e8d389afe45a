"""Items that have sinks of their own instead of those of the crawl: boards may name some.

Boards come and go while a crawl runs, so a sink is opened when its first item comes. One that is
down holds the crawl back, as any other. But one that cannot be opened for good, because of a wrong
password for instance, costs only the items that should go there: it refuses them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from weft.clock import monotonic_s
from weft.errors import ConfigError, SinkDownError, StoreError, StoreFullError
from weft.sinks.base import KeyedItem, Refusal, Sink

#: How soon it is tried again to open a sink that could not be opened.
RETRY_S = 30.0


class ItemRoute(Protocol):
    """Says where items go."""

    def sinks_of(self, item: KeyedItem) -> Sequence[str]:
        """The addresses of its own sinks; none: it goes to the sinks of the crawl."""
        ...

    async def all_sinks(self) -> Sequence[str]:
        """The addresses of all sinks that items may have."""
        ...

    def note_refused(self, item: KeyedItem, reason: str) -> None:
        """The sink of an item cannot be used."""
        ...

    def note_waiting(self, items: Sequence[KeyedItem], reason: str) -> None:
        """The sink of these items is down; they are tried again."""
        ...


class CrawlSink:
    """A sink of the crawl: it gets the items that have none of their own, or that name it."""

    def __init__(self, sink: Sink, address: str, route: ItemRoute) -> None:
        self._sink = sink
        self._key = _key(address)
        self._route = route

    @property
    def place(self) -> str:
        return self._sink.place

    async def open(self) -> None:
        await self._sink.open()

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        own = [item for item in items if self._is_for(item)]
        if items and not own:
            return ()
        with _noting_waits(self._route, own):
            return await self._sink.store(own)

    def _is_for(self, item: KeyedItem) -> bool:
        addresses = self._route.sinks_of(item)
        return not addresses or self._key in map(_key, addresses)

    async def clear(self) -> None:
        await self._sink.clear()

    async def close(self) -> None:
        await self._sink.close()


class RoutedSinks:
    """A sink that is made of others: those that items name."""

    place = "a sink of a board"

    def __init__(
        self, route: ItemRoute, make: Callable[[str], Sink], of_crawl: Sequence[str] = ()
    ) -> None:
        """`of_crawl`: sinks that get their items from the crawl."""
        self._route = route
        self._make = make
        self._of_crawl = {*map(_key, of_crawl)}
        self._sinks: dict[str, Sink] = {}
        # Why sinks could not be opened, and when to try again.
        self._refused: dict[str, tuple[str, float]] = {}

    async def open(self) -> None:
        """Nothing is opened before it is needed."""

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        if not items:
            for sink in self._sinks.values():
                await sink.store(())
            return ()
        refusals: list[Refusal] = []
        for address, own in self._by_address(items).items():
            refusals += await self._store(address, own)
        return refusals

    def _by_address(self, items: Sequence[KeyedItem]) -> dict[str, list[KeyedItem]]:
        found: dict[str, list[KeyedItem]] = {}
        for item in items:
            for address in self._route.sinks_of(item):
                if _key(address) not in self._of_crawl:
                    found.setdefault(address, []).append(item)
        return found

    async def _store(self, address: str, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        with _noting_waits(self._route, items):
            try:
                sink = await self._opened(address)
            except (SinkDownError, StoreFullError):
                raise
            except (ConfigError, StoreError) as error:
                for item in items:
                    self._route.note_refused(item, str(error))
                return [Refusal(item, str(error)) for item in items]
            return await sink.store(items)

    async def _opened(self, address: str) -> Sink:
        key = _key(address)
        if sink := self._sinks.get(key):
            return sink
        reason, again_at_s = self._refused.get(key, ("", 0.0))
        if monotonic_s() < again_at_s:
            raise StoreError(reason)
        try:
            sink = self._make(address)
            await sink.open()
        except (SinkDownError, StoreFullError):
            raise
        except (ConfigError, StoreError) as error:
            self._refused[key] = str(error), monotonic_s() + RETRY_S
            raise
        self._sinks[key] = sink
        return sink

    async def clear(self) -> None:
        for address in await self._route.all_sinks():
            if _key(address) in self._of_crawl:
                continue
            # What cannot be opened has no items of this job that could be removed.
            with suppress(ConfigError):
                sink = await self._opened(address)
                await sink.clear()

    async def close(self) -> None:
        problems = []
        while self._sinks:
            _, sink = self._sinks.popitem()
            try:
                await sink.close()
            except StoreError as error:
                problems.append(error)
        if problems:
            raise problems[0]


@contextmanager
def _noting_waits(route: ItemRoute, items: Sequence[KeyedItem]) -> Iterator[None]:
    try:
        yield
    except (SinkDownError, StoreFullError) as error:
        route.note_waiting(items, str(error))
        raise


def _key(address: str) -> str:
    """The same for a file however its path is written."""
    return address if "://" in address else str(Path(address).resolve())

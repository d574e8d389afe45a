"""What outputs on disk have in common: their work blocks, so each has a thread of its own."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from weft.sinks.base import KeyedItem, Refusal
from weft.thread import WorkThread


class BlockingOutput(ABC):
    """Opened, cleared and closed by blocking methods, which are called one after the other."""

    def __init__(self, name: str, place: str) -> None:
        self._thread = WorkThread(name)
        self.place = place

    async def open(self) -> None:
        try:
            await self._thread.run(self._open)
        except BaseException:
            await self.close()
            raise

    async def clear(self) -> None:
        await self._thread.run(self._clear)

    async def close(self) -> None:
        try:
            await self._thread.run(self._close)
        finally:
            self._thread.stop()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _clear(self) -> None: ...

    @abstractmethod
    def _close(self) -> None:
        """Also called when it is not open."""


class BlockingSink(BlockingOutput):
    """A `Sink` made of four blocking methods. It refuses nothing: any item can be written."""

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        await self._thread.run(self._store, items)
        return ()

    @abstractmethod
    def _store(self, items: Sequence[KeyedItem]) -> None: ...

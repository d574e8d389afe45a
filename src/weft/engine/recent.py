"""A bounded set that forgets the oldest half when it is full."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


class RecentSet(Generic[Value]):
    def __init__(self, capacity: int) -> None:
        self._half = capacity // 2
        self.clear()

    def clear(self) -> None:
        self._young: set[Value] = set()
        self._old: set[Value] = set()

    def __contains__(self, value: Value) -> bool:
        return value in self._young or value in self._old

    def add(self, value: Value) -> bool:
        """False if it was in the set already."""
        if value in self._young or value in self._old:
            return False
        if len(self._young) >= self._half:
            self._old = self._young
            self._young = set()
        self._young.add(value)
        return True

"""A bounded set that forgets the oldest half when it is full."""


class RecentSet:
    def __init__(self, capacity: int) -> None:
        self._half = capacity // 2
        self.clear()

    def clear(self) -> None:
        self._young: set[int] = set()
        self._old: set[int] = set()

    def add(self, number: int) -> bool:
        """False if it was in the set already."""
        if number in self._young or number in self._old:
            return False
        if len(self._young) >= self._half:
            self._old = self._young
            self._young = set()
        self._young.add(number)
        return True

"""A clock that does not move until it is told to."""


class FakeClock:
    def __init__(self, now_ms: int = 1_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, ms: int) -> None:
        self._now_ms += ms

"""Numbers that were met lately, in a fixed amount of memory.

Each number has two slots, side by side, and shares them with others: who comes pushes the one who
stood there to the slot beside it. So a number may be forgotten early, but what is remembered was
really met.
"""

from array import array

from weft.clock import Clock


class RecentNumbers:
    """Whole numbers other than 0 that fit into 64 bits, with a sign."""

    def __init__(self, capacity: int) -> None:
        """`capacity`: slots, at 8 bytes each; a power of two."""
        self._mask = capacity - 1
        self.clear()

    def clear(self) -> None:
        self._slots = array("q", bytes(8 * (self._mask + 1)))

    def __contains__(self, number: int) -> bool:
        slots, slot = self._slots, number & self._mask
        return slots[slot] == number or slots[slot ^ 1] == number

    def add(self, number: int) -> bool:
        """False if it is remembered already."""
        slots, slot = self._slots, number & self._mask
        other = slots[slot]
        if other == number:
            return False
        if other:
            if slots[slot ^ 1] == number:
                return False
            slots[slot ^ 1] = other
        slots[slot] = number
        return True


class Period:
    """Time in equal parts, so that what is remembered is forgotten now and then: to look whether a
    part is over costs nothing for each number."""

    def __init__(self, length_ms: float, clock: Clock) -> None:
        self._length_ms = length_ms
        self._clock = clock
        self._begun_at_ms = clock.now_ms()

    def is_over(self) -> bool:
        """The next one begins then. A clock that is put back ends it too."""
        now_ms = self._clock.now_ms()
        if 0 <= now_ms - self._begun_at_ms < self._length_ms:
            return False
        self._begun_at_ms = now_ms
        return True

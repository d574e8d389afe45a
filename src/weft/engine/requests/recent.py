"""Remembers the latest numbers, in a fixed amount of memory.

Each number has two adjacent slots and shares them with others: a new number moves the old one to
the other slot. So a number may be forgotten early, but a number that is remembered was really
added.
"""

from array import array

from weft.clock import Clock

#: Slots at first; when two numbers meet in one, all are made.
FIRST_SLOTS = 2**12


class RecentNumbers:
    """Integers other than 0 that fit into 64 bits, including the sign."""

    def __init__(self, capacity: int) -> None:
        """`capacity`: the number of slots, 8 bytes each; a power of two."""
        self._capacity = capacity
        self.clear()

    def clear(self) -> None:
        # Memory that is never used is not even touched: that takes longer than a page.
        self._make_slots(min(self._capacity, FIRST_SLOTS))

    def _make_slots(self, number: int) -> None:
        self._mask = number - 1
        self._slots = array("q", bytes(8 * number))

    def __contains__(self, number: int) -> bool:
        slots, slot = self._slots, number & self._mask
        return slots[slot] == number or slots[slot ^ 1] == number

    def add(self, number: int) -> bool:
        """Returns False if it is already remembered."""
        slots, slot = self._slots, number & self._mask
        other = slots[slot]
        if other == number:
            return False
        if other:
            if slots[slot ^ 1] == number:
                return False
            if self._mask + 1 < self._capacity:
                self._grow()
                return self.add(number)
            slots[slot ^ 1] = other
        slots[slot] = number
        return True

    def _grow(self) -> None:
        known = [*filter(None, self._slots)]
        self._make_slots(self._capacity)
        for number in known:
            self.add(number)


class Interval:
    """Divides time into equal intervals, so that numbers can be forgotten from time to time at no
    cost per number."""

    def __init__(self, length_ms: float, clock: Clock) -> None:
        self._length_ms = length_ms
        self._clock = clock
        self._begun_at_ms = clock.now_ms()

    def is_over(self) -> bool:
        """If it is over, the next one begins. Setting the clock back also ends it."""
        now_ms = self._clock.now_ms()
        if 0 <= now_ms - self._begun_at_ms < self._length_ms:
            return False
        self._begun_at_ms = now_ms
        return True

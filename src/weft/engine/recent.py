"""Numbers that were met lately, in a fixed amount of memory.

Each number has two slots, side by side, and shares them with others: who comes pushes the one who
stood there to the slot beside it. So a number may be forgotten early, but what is remembered was
really met.
"""

from array import array


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

"""Computes a plan from members and buckets: who serves which bucket. Pure: the same members always
give the same plan.

Three strategies. `modulo` is the one-level hash, for comparison: one member more or less moves
nearly everything. `two-level` has a virtual table with as many places as there may ever be members:
a bucket whose place is taken stays there, the others are dealt out by modulo.

`weighted`, the default, is rendezvous hashing: each bucket has a fixed ranking of all possible
members, and goes to the highest-ranked one that is present. So a member that leaves moves only its
own buckets, and one that joins takes some and moves no others. It is not members that are ranked
but seats; the weight of a member decides how many it has.

Ranks drawn independently of each other would give some of 100 members 1.4 times the mean of 4,096
buckets. So the highest rank is dealt: each further seat becomes the first choice of its fair share
of the buckets, taken evenly from those before it. All other ranks are drawn: buckets dealt to
members that are gone are spread over all that are present.
"""

import heapq
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import shake_128
from itertools import chain, pairwise
from random import Random
from struct import unpack

import msgspec

from weft.config import DEFAULT_VIRTUAL_NODES
from weft.records import Strategy

#: Seats of a member with weight 1.
SEATS = 4
#: About this many of a bucket's highest-ranked seats are cached.
FAVOURITES = 16
#: Draws are integers below this.
DRAWS = 2**32


class Member(msgspec.Struct, frozen=True, array_like=True):
    name: str
    #: Its place in the virtual table: the lowest that was free when it joined.
    number: int
    #: The lowest that were free when it joined.
    seats: tuple[int, ...]


#: For each bucket the names of the members that serve it, the first choice first.
Plan = list[tuple[str, ...]]


def seats_of(weight: float) -> int:
    """The number of seats for a weight; at least one."""
    return max(1, round(weight * SEATS))


def lowest_free(taken: Iterable[int], many: int) -> tuple[int, ...]:
    """The lowest `many` numbers that are not taken."""
    taken = set(taken)
    free: list[int] = []
    number = 0
    while len(free) < many:
        if number not in taken:
            free.append(number)
        number += 1
    return tuple(free)


def assign(
    strategy: Strategy,
    members: Sequence[Member],
    buckets: int,
    *,
    copies: int = 1,
    virtual_nodes: int = DEFAULT_VIRTUAL_NODES,
) -> Plan:
    """`copies`: how many members serve a bucket, if there are enough. `virtual_nodes`: places in
    the virtual table of `two-level`; there are more if a member has a higher number."""
    if not members:
        return [()] * buckets
    in_order = sorted(members, key=lambda member: member.number)
    names = [member.name for member in in_order]
    if strategy is Strategy.MODULO:
        return _deal((bucket % len(names) for bucket in range(buckets)), names, copies)
    if strategy is Strategy.TWO_LEVEL:
        numbers = [member.number for member in in_order]
        return _deal(_two_level(numbers, buckets, virtual_nodes), names, copies)
    return _weighted(members, buckets, min(copies, len(members)))


def _deal(places: Iterable[int], names: Sequence[str], copies: int) -> Plan:
    """Assign each bucket to the member at its place and the members after it."""
    number = len(names)
    return [
        tuple(names[(place + i) % number] for i in range(min(copies, number))) for place in places
    ]


def _two_level(numbers: Sequence[int], buckets: int, virtual_nodes: int) -> Iterator[int]:
    """The number of a bucket is already a hash of its contents."""
    virtual_nodes = max(virtual_nodes, numbers[-1] + 1)
    places = {number: place for place, number in enumerate(numbers)}
    for bucket in range(buckets):
        virtual = bucket % virtual_nodes
        yield places[virtual] if virtual in places else bucket % len(numbers)


# Weighted


def _weighted(members: Sequence[Member], buckets: int, copies: int) -> Plan:
    holders = {seat: member.name for member in members for seat in member.seats}
    last = max(holders)
    # Round up the number of seats, so that few joins need new ranks.
    ranks = _ranks(max(SEATS, 1 << last.bit_length()), buckets)
    if copies > 1:
        return [ranks.best(bucket, holders, copies) for bucket in range(buckets)]
    alone = {seat: (name,) for seat, name in holders.items()}
    return [
        alone.get(ranks.first(bucket, last)) or ranks.best(bucket, holders, 1)
        for bucket in range(buckets)
    ]


class _Ranks:
    """How each bucket ranks the first `seats` seats. More seats do not change their order."""

    def __init__(self, seats: int, buckets: int) -> None:
        self._seats = seats
        self._dealt = _dealt(seats, buckets)
        self._remembered: dict[int, list[int]] = {}

    def first(self, bucket: int, last: int) -> int:
        """The highest-ranked seat up to `last`."""
        return next(seat for seat in reversed(self._dealt[bucket]) if seat <= last)

    def best(self, bucket: int, holders: Mapping[int, str], copies: int) -> tuple[str, ...]:
        """The names of the highest-ranked members present; `copies` is at most their number."""
        found: dict[str, None] = {}
        for seat in chain(  # pragma: no branch - there are enough of them
            self._favourites(bucket), self._all(bucket, holders)
        ):
            if seat in holders:
                found[holders[seat]] = None
                if len(found) == copies:
                    break
        return tuple(found)

    def _favourites(self, bucket: int) -> list[int]:
        if bucket not in self._remembered:
            self._remembered[bucket] = self._rank(bucket).highest(FAVOURITES)
        return self._remembered[bucket]

    def _all(self, bucket: int, seats: Iterable[int]) -> Iterator[int]:
        yield from self._rank(bucket).in_order(seats)

    def _rank(self, bucket: int) -> "_Rank":
        return _Rank(bucket, self._dealt[bucket], self._seats)


class _Rank:
    """How one bucket ranks the seats.

    Each seat has drawn a number. The draws are stretched so that a seat that was dealt the bucket
    ranks above all seats before it, and a seat that was not dealt it ranks below the last one that
    was. Otherwise every order of the seats is equally likely.
    """

    def __init__(self, bucket: int, dealt: Sequence[int], seats: int) -> None:
        self._dealt = dealt
        self._seats = seats
        self._draws = unpack(f"<{seats}I", shake_128(b"%d" % bucket).digest(4 * seats))
        self._peaks = [1.0]
        for seat in dealt[1:]:
            # How far the highest of `seat` draws stays below the top: a root of one draw.
            below = ((self._draws[seat] + 0.5) / DRAWS) ** (1 / seat)
            self._peaks.append(self._peaks[-1] / below)

    def in_order(self, seats: Iterable[int]) -> list[int]:
        """The highest-ranked first."""
        return sorted(seats, key=self._height, reverse=True)

    def highest(self, many: int) -> list[int]:
        """The highest-ranked of all seats, about `many`, in order."""
        least = self._peaks[-1] * (1 - many / self._seats)
        found: list[int] = []
        for peak, (first, end) in zip(self._peaks, self._spans(), strict=True):
            if peak > least:
                limit = least / peak * DRAWS
                found.append(first)
                found += [seat for seat in range(first + 1, end) if self._draws[seat] > limit]
        return self.in_order(found)

    def _spans(self) -> Iterator[tuple[int, int]]:
        return pairwise([*self._dealt, self._seats])

    def _height(self, seat: int) -> tuple[float, int]:
        index = bisect(self._dealt, seat) - 1
        draw = DRAWS if self._dealt[index] == seat else self._draws[seat]
        return self._peaks[index] * draw, seat


@lru_cache(maxsize=4)
def _ranks(seats: int, buckets: int) -> _Ranks:
    return _Ranks(seats, buckets)


def _dealt(seats: int, buckets: int) -> list[list[int]]:
    """For each bucket the seats that it was dealt to, in turn; the first is seat 0.

    Each further seat takes its fair share from the seats that have most. Most members have `SEATS`
    seats in a row, so rows are balanced first, and then the seats within them.
    """
    chance = Random(0).random
    dealt: list[list[int]] = [[] for _ in range(buckets)]
    rows = [[list(range(buckets))]]
    richest = [(-buckets, 0.0, 0)]
    owed = 0.0
    for first in range(0, seats, SEATS):
        row: list[list[int]] = []
        many = 0
        for seat in range(first, first + SEATS):
            due = owed + buckets * (seat - first + 1) / (seat + 1)
            taken: list[int] = []
            while many < int(due):
                load, _, giver = richest[0]
                taken.append(_pick(rows[giver], chance()))
                heapq.heapreplace(richest, (load + 1, chance(), giver))
                many += 1
            while row and len(max(row, key=len)) > len(taken) + 1:
                taken.append(_pick(row, chance()))
            for bucket in taken:
                dealt[bucket].append(seat)
            row.append(taken)
        owed = due - many
        rows.append(row)
        heapq.heappush(richest, (-many, chance(), len(rows) - 1))
    return dealt


def _pick(row: list[list[int]], chance: float) -> int:
    """Take a bucket from the seat of the row that has most."""
    buckets = max(row, key=len)
    index = int(chance * len(buckets))
    buckets[index], buckets[-1] = buckets[-1], buckets[index]
    return buckets.pop()

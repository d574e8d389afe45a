"""The members of a job: its workers, which report every second that they are alive.

All see the same list: whenever it changes, so does its epoch. A member that is not heard of for the
time of a lease is removed, and the others get its buckets.
"""

import asyncio
from contextlib import suppress

import msgspec

from weft.cluster.assignment import Member
from weft.cluster.status import JobState, Status
from weft.errors import StoreError
from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script

#: How long to try to leave properly.
LEAVE_S = 2.0


class View(msgspec.Struct, frozen=True):
    """The members as one of them sees them."""

    epoch: int = 0
    state: JobState = JobState.RUNNING
    members: tuple[Member, ...] = ()


class Meet(msgspec.Struct, frozen=True, array_like=True):
    """Blob: the status."""

    name: str
    known_epoch: int
    many_seats: int
    patience_ms: int


class Met(msgspec.Struct, frozen=True, array_like=True):
    epoch: int
    state: str
    members: list[Member]


class Stay(msgspec.Struct, frozen=True, array_like=True):
    name: str


class Leave(msgspec.Struct, frozen=True, array_like=True):
    name: str


MEET = Script("weft.cluster.lua", ("meet",), NoConfig, Meet, Met)
STAY = Script("weft.cluster.lua", ("stay",), NoConfig, Stay, bool)
LEAVE = Script("weft.cluster.lua", ("leave",), NoConfig, Leave, bool)


class Membership:
    """The membership of one worker in a job."""

    def __init__(self, client: Client, job: str, name: str) -> None:
        self._client = client
        self._client.know({script.sha: script.source for script in (MEET, LEAVE)})
        self._prefix = keys.job_prefix(job)
        self._name = name
        self._is_in = False
        self.view = View()

    async def meet(self, status: Status, *, seats: int, patience_ms: int) -> View:
        """Report that we are alive. `patience_ms`: members not heard of for this long are removed;
        0: remove none now."""
        self._is_in = True
        call = Meet(self._name, self.view.epoch, seats, patience_ms)
        packed = msgspec.msgpack.encode(status)
        [raw] = await self._client.run([MEET.call(self._prefix, NO_CONFIG, call, [packed])])
        met = MEET.read(raw)
        members = tuple(met.members) if met.epoch != self.view.epoch else self.view.members
        self.view = View(met.epoch, JobState(met.state or JobState.RUNNING), members)
        return self.view

    async def stay(self, client: Client) -> bool:
        """Report that we are still alive, over another connection, possibly from another thread.
        Return False if we are not a member."""
        client.know({STAY.sha: STAY.source})
        [raw] = await client.run([STAY.call(self._prefix, NO_CONFIG, Stay(self._name))])
        return STAY.read(raw)

    @property
    def server_age_s(self) -> float:
        """How long the server has been up."""
        return self._client.server_age_s

    async def statuses(self) -> dict[str, Status]:
        """The statuses of all members."""
        [found] = await self._client.run([("HGETALL", f"{self._prefix}status")])
        return {
            name.decode(): msgspec.msgpack.decode(packed, type=Status)
            for name, packed in found.items()
        }

    async def leave(self) -> None:
        """Hand over our share at once; if that takes too long, the others notice by themselves."""
        if not self._is_in:
            return
        self._is_in = False
        call = LEAVE.call(self._prefix, NO_CONFIG, Leave(self._name))
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._client.run([call])

"""This worker's share of a crawl: its place among the members, and its leases of buckets.

It runs beside the rounds of the buffer, because those may wait for a sink. Once a second it sends a
sign of life, gets the list of members, computes from it which buckets are its own, and keeps, takes
and leaves leases accordingly.

Others may take a lease that is not kept in time, see `LeaseTime`. When that time is over, what is
under way is cut off, and nothing is sent until it is known again which buckets are ours. After such
a gap, and on a store that has just started, nothing is taken from others for a while: the same
cause may have cut them off.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from weft.clock import monotonic_s
from weft.cluster.assignment import assign, seats_of
from weft.cluster.status import BEAT_S, JobState, Status
from weft.cluster.weights import next_weight
from weft.engine.claims.leasetime import LeaseTime
from weft.errors import WeftError
from weft.frontier import LeasesBuckets

if TYPE_CHECKING:  # an embedded store needs no Redis client
    from weft.cluster.membership import Membership, View
    from weft.redis.client import Client

logger = logging.getLogger(__name__)

#: Minimum number of signs of life per lease.
BEATS = 5
#: Time between two comparisons with the speeds of other workers.
WEIGH_S = 15.0


class Share:
    def __init__(
        self,
        frontier: LeasesBuckets,
        membership: "Membership",
        *,
        owner: str,
        workers_per_host: int,
        lease_s: float,
        weight: float | None,
        status: Callable[[], Status],
        now_s: Callable[[], float] = monotonic_s,
    ) -> None:
        """`weight` is None if it is to be measured."""
        self._frontier = frontier
        self._membership = membership
        self._owner = owner
        self._workers_per_host = workers_per_host
        self._lease_s = lease_s
        self._is_weight_fixed = weight is not None
        self._status = status
        self._now_s = now_s
        self._epoch = -1
        self._wanted: set[int] = set()
        self._is_retiring = False
        self._is_closed = False
        self._patient_until_s = -math.inf
        self._weighed_at_s = -math.inf
        self._leaving_beats: dict[int, int] = {}
        #: How long it can be sure of its leases.
        self.lease_time = LeaseTime(lease_s, self._note_lapse, now_s)
        self.weight = 1.0 if weight is None else weight
        #: The buckets that this worker has.
        self.buckets: list[int] = []
        #: The state of the job, which its workers follow.
        self.state = JobState.RUNNING
        #: Called when others may have our claims: after a gap, or when a lease was lost.
        self.after_doubt: Callable[[], None] = lambda: None
        #: Called when requests under way must end now: the leases have run out, or others have
        #: waited too long for buckets.
        self.after_lapse: Callable[[str], None] = lambda why: None
        #: Called with hosts of ours at which other workers want turns.
        self.after_call: Callable[[Sequence[str]], None] = lambda hosts: None
        #: Called with the state of the job, once a second.
        self.after_beat: Callable[[JobState], None] = lambda state: None
        #: Called when the store has failed for good.
        self.after_error: Callable[[WeftError], None] = lambda error: None

    def leaving(self, tokens: Sequence[int]) -> list[int]:
        """Those of these claims whose buckets go to another worker."""
        return self._frontier.leaving(tokens)

    async def run(self) -> None:
        """Run until cancelled or closed. Closing is needed because `asyncio.wait_for` in Python
        3.11, which redis-py uses to send, sometimes swallows a cancellation."""
        try:
            while not self._is_closed:
                await self.beat()
                await asyncio.sleep(self._pause_s())
        except WeftError as error:
            self.after_error(error)
        except Exception as problem:  # a bug in Weft must end the crawl, not leave it waiting
            logger.exception("the share failed")
            self.after_error(WeftError(f"the share of this worker failed: {problem!r}"))

    def _pause_s(self) -> float:
        """Shorter than usual after a slow answer: the leases are old already."""
        return max(0.0, min(self._beat_s, self.lease_time.left_s() / 2))

    @property
    def _beat_s(self) -> float:
        return min(BEAT_S, self._lease_s / BEATS)

    def retire(self) -> None:
        """Leave the members, and each bucket as soon as its last claim has ended."""
        self._is_retiring = True

    async def beat(self) -> None:
        """Send a sign of life, and bring the leases in line with the plan."""
        asked_at_s = self._now_s()
        view = await self._meet()
        self._plan(view)
        hold = await self._frontier.hold(
            self._owner,
            self._wanted,
            lease_ms=round(self._lease_s * 1000),
            may_evict=self._may_evict(),
            sharers=max(1, min(self._workers_per_host, len(view.members))),
        )
        self.buckets = hold.buckets
        self.state = view.state
        if hold.called:
            self.after_call(hold.called)
        if hold.is_lost or not self.lease_time.is_sure:
            self.after_doubt()
        self.lease_time.note_beaten(asked_at_s)
        self._note_leaving(hold.leaving)
        self.after_beat(view.state)

    async def _meet(self) -> "View":
        if self._is_retiring:
            await self._membership.leave()
            return self._membership.view
        status = self._status()
        await self._weigh(status.speed)
        patience_ms = round(self._lease_s * 1000) if self._may_evict() else 0
        return await self._membership.meet(
            status, seats=seats_of(self.weight), patience_ms=patience_ms
        )

    def _may_evict(self) -> bool:
        now_s = self._now_s()
        silent_s = self.lease_time.silent_s()  # endless if it is new
        if self._lease_s / 2 < silent_s < math.inf:
            self._patient_until_s = now_s + self._lease_s
        server_up_s = now_s - self._membership.server_age_s
        return now_s >= max(self._patient_until_s, server_up_s + self._lease_s)

    def _plan(self, view: "View") -> None:
        if self._is_retiring:
            self._wanted = set()
            return
        if view.epoch == self._epoch:
            return
        self._epoch = view.epoch
        plan = assign(
            self._frontier.assignment,
            view.members,
            self._frontier.buckets,
            copies=self._workers_per_host,
            virtual_nodes=self._frontier.virtual_nodes,
        )
        self._wanted = {bucket for bucket, names in enumerate(plan) if self._owner in names}

    async def stay(self, client: "Client") -> bool:
        """Send a sign of life and keep the leases over another connection. Returns whether all of
        them are still ours. The keeper calls this in its thread."""
        lease_ms = round(self._lease_s * 1000)
        is_member = await self._membership.stay(client)
        return is_member and await self._frontier.keep_leases(client, self._owner, lease_ms)

    def _note_lapse(self) -> None:
        self.after_lapse("the leases of this worker were not kept in time")

    def _note_leaving(self, buckets: Sequence[int]) -> None:
        """A slow page must not keep the other hosts of its bucket waiting for longer than a lease
        lasts. Count in beats: while a callback blocks the event loop there are none, and no page
        can end."""
        beats = {bucket: self._leaving_beats.get(bucket, 0) + 1 for bucket in buckets}
        if any(number > self._lease_s / self._beat_s + 1 for number in beats.values()):
            self.after_lapse("other workers wait for buckets of this one")
            beats = {}
        self._leaving_beats = beats

    async def _weigh(self, speed: float) -> None:
        """From time to time, compare our speed with that of other workers."""
        now_s = self._now_s()
        if self._is_weight_fixed or now_s < self._weighed_at_s + WEIGH_S:
            return
        self._weighed_at_s = now_s
        statuses = await self._membership.statuses()
        others = [each.speed for name, each in statuses.items() if name != self._owner]
        weight = next_weight(self.weight, speed, others)
        if weight != self.weight:
            logger.info("the weight of this worker changed to %g from %g", weight, self.weight)
        self.weight = weight

    async def close(self) -> None:
        self._is_closed = True
        self.lease_time.close()
        await self._membership.leave()

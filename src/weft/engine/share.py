"""The share that this worker has of a crawl: its place among the members, its leases of buckets.

It works beside the rounds of the buffer, for those may wait for a sink. Once a second it says that
it is there, hears who else is, computes from that which buckets are its own, and keeps, takes and
leaves leases accordingly.

A lease that is not kept in time is for others to take, and its holder may be the last to hear of
it. So it counts for itself, from the moment at which it *asked*: when that time is over, it cuts
off what is under way and sends nothing before it knows again what is its own. After such a gap, and
on a store that has just come up, it takes nothing from others for a while: they may have been cut
off by the same cause.
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
from weft.errors import WeftError
from weft.frontier import LeasesBuckets

if TYPE_CHECKING:  # an embedded store needs no Redis client
    from weft.cluster.membership import Membership, View
    from weft.redis.client import Client

logger = logging.getLogger(__name__)

#: Share of the time of a lease that is not counted on: clocks differ, and cutting takes a while.
MARGIN = 0.1
#: Signs of life in the time of a lease, at least.
BEATS = 5
#: Time between two looks at the speeds of the others.
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
        """`weight`: None: by what is measured."""
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
        self._beaten_at_s = -math.inf
        self._sure_until_s = -math.inf
        self._patient_until_s = -math.inf
        self._weighed_at_s = -math.inf
        self._leaving_beats: dict[int, int] = {}
        self._lapse: asyncio.TimerHandle | None = None
        self.weight = 1.0 if weight is None else weight
        #: The buckets that it has.
        self.buckets: list[int] = []
        #: What the workers of the job are told to do.
        self.state = JobState.RUNNING
        #: Called when claims may be another's by now: after a gap, or when a lease was lost.
        self.after_doubt: Callable[[], None] = lambda: None
        #: Called when what is under way must end now: the time of the leases is over, or others
        #: wait for buckets for too long.
        self.after_lapse: Callable[[str], None] = lambda why: None
        #: Called with hosts of ours that other workers want turns of.
        self.after_call: Callable[[Sequence[str]], None] = lambda hosts: None
        #: Called with that, once a second.
        self.after_beat: Callable[[JobState], None] = lambda state: None
        #: Called when the store has failed for good.
        self.after_error: Callable[[WeftError], None] = lambda error: None

    @property
    def is_sure(self) -> bool:
        """Whether nobody else can have taken our buckets yet."""
        return self._now_s() < self._sure_until_s

    def leaving(self, tokens: Sequence[int]) -> list[int]:
        """Those of these claims whose buckets are for another."""
        return self._frontier.leaving(tokens)

    async def run(self) -> None:
        """Until it is cancelled, or closed: in Python 3.11 `asyncio.wait_for`, which redis-py sends
        with, swallows a cancellation now and then."""
        try:
            while not self._is_closed:
                await self.beat()
                await asyncio.sleep(self._pause_s())
        except WeftError as error:
            self.after_error(error)
        except Exception as problem:  # a bug of ours must end the crawl, not leave it waiting
            logger.exception("the share failed")
            self.after_error(WeftError(f"the share of this worker failed: {problem!r}"))

    def _pause_s(self) -> float:
        """Less than usual after an answer that took its time: the leases are old already."""
        left_s = self._sure_until_s - self._now_s()
        return max(0.0, min(self._beat_s, left_s / 2))

    @property
    def _beat_s(self) -> float:
        return min(BEAT_S, self._lease_s / BEATS)

    def retire(self) -> None:
        """Leave the members, and each bucket as soon as its last claim has ended."""
        self._is_retiring = True

    async def beat(self) -> None:
        """Say that we are there, and bring the leases in line with the plan."""
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
        if hold.is_lost or not self.is_sure:
            self.after_doubt()
        self._note_beaten(asked_at_s)
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
        has_gap = now_s - self._beaten_at_s > self._lease_s / 2
        is_new = self._beaten_at_s == -math.inf
        if has_gap and not is_new:
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
        """Say that we are there, and keep the leases, over another connection; whether they are all
        still ours. For the keeper, in its thread."""
        lease_ms = round(self._lease_s * 1000)
        is_member = await self._membership.stay(client)
        return is_member and await self._frontier.keep_leases(client, self._owner, lease_ms)

    def silent_s(self) -> float:
        """How long ago the last beat was."""
        return self._now_s() - self._beaten_at_s

    def extend(self, asked_at_s: float) -> None:
        """Whoever asked at that time was told that the leases are kept."""
        self._sure_until_s = max(self._sure_until_s, asked_at_s + self._lease_s * (1 - MARGIN))

    def _note_beaten(self, asked_at_s: float) -> None:
        self._beaten_at_s = self._now_s()
        self.extend(asked_at_s)
        left_s = self._sure_until_s - self._now_s()
        if left_s <= 0:
            return  # the time before this one is over too, and that was told
        if self._lapse is not None:
            self._lapse.cancel()
        self._lapse = asyncio.get_running_loop().call_later(left_s, self._note_lapse)

    def _note_lapse(self) -> None:
        left_s = self._sure_until_s - self._now_s()
        if left_s > 0:  # the keeper has kept them
            self._lapse = asyncio.get_running_loop().call_later(left_s, self._note_lapse)
        else:
            self.after_lapse("the leases of this worker were not kept in time")

    def _note_leaving(self, buckets: Sequence[int]) -> None:
        """A page that takes its time must not keep the other hosts of its bucket waiting for longer
        than a lease lasts. Beats are counted: while a callback blocks the event loop there are
        none, and no page can end."""
        beats = {bucket: self._leaving_beats.get(bucket, 0) + 1 for bucket in buckets}
        if any(number > self._lease_s / self._beat_s + 1 for number in beats.values()):
            self.after_lapse("other workers wait for buckets of this one")
            beats = {}
        self._leaving_beats = beats

    async def _weigh(self, speed: float) -> None:
        """From time to time, compare our speed with that of the others."""
        now_s = self._now_s()
        if self._is_weight_fixed or now_s < self._weighed_at_s + WEIGH_S:
            return
        self._weighed_at_s = now_s
        statuses = await self._membership.statuses()
        others = [each.speed for name, each in statuses.items() if name != self._owner]
        weight = next_weight(self.weight, speed, others)
        if weight != self.weight:
            logger.info("the weight of this worker is %g now, it was %g", weight, self.weight)
        self.weight = weight

    async def close(self) -> None:
        self._is_closed = True
        if self._lapse is not None:
            self._lapse.cancel()
        await self._membership.leave()

"""Puts together the parts that take care of claims. Each is given what it uses."""

from collections.abc import Callable
from typing import NamedTuple

from weft.clock import monotonic_s
from weft.config import FrontierConfig
from weft.engine.claims.activity import Activity
from weft.engine.claims.again import Again
from weft.engine.claims.buffer import Buffer
from weft.engine.claims.claimer import Claimer
from weft.engine.claims.delivery import Delivery
from weft.engine.claims.finisher import Finisher
from weft.engine.claims.inhand import InHand
from weft.engine.claims.ready import Ready
from weft.engine.claims.renewals import Renewals
from weft.engine.claims.restarts import Restarts
from weft.engine.claims.returns import Returns
from weft.engine.claims.settling import Settling
from weft.engine.claims.share import Share
from weft.engine.claims.storing import Storing
from weft.engine.claims.supply import Supply
from weft.engine.politeness.hostkeys import ByName, HostKeys
from weft.frontier import Frontier


class ClaimParts(NamedTuple):
    """What `Rounds` works with; others get the parts that they use."""

    activity: Activity
    ready: Ready
    hand: InHand
    buffer: Buffer
    returns: Returns
    renewals: Renewals
    supply: Supply
    claimer: Claimer
    storing: Storing
    restarts: Restarts
    finisher: Finisher
    settling: Settling


def make_claim_parts(
    frontier: Frontier,
    delivery: Delivery,
    *,
    owner: str,
    capacity: int,
    config: FrontierConfig,
    concurrency_of: Callable[[str], int],
    sent_ago_ms: Callable[[str], int | None],
    share: Share | None = None,
    keys: HostKeys | None = None,
    is_watching: bool = False,
    now_s: Callable[[], float] = monotonic_s,
) -> ClaimParts:
    """`share` is None if the frontier is ours alone, `keys` is None for host names."""
    claim_s = config.claim_ms / 1000
    activity = Activity()
    again = Again(now_s, is_watching=is_watching)
    ready = Ready(concurrency_of)
    hand = InHand()
    buffer = Buffer(hand, activity.note)
    returns = Returns(frontier, hand, ready, activity.note, now_s)
    renewals = Renewals(
        *(frontier, hand, ready, returns),
        owner=owner,
        claim_s=claim_s,
        leases=share.lease_time if share else None,
        wake=activity.wake,
        now_s=now_s,
    )
    leaving = share.leaving if share else None
    supply = Supply(ready, hand, buffer, renewals, activity, leaving)
    claimer = Claimer(
        *(frontier, ready, hand, supply, renewals, activity, again),
        owner=owner,
        capacity=capacity,
        claim_s=claim_s,
        now_s=now_s,
    )
    claim_soon = claimer.claim_soon
    storing = Storing(
        *(frontier, delivery, keys or ByName(), renewals), claim_soon=claim_soon, now_s=now_s
    )
    restarts = Restarts(frontier, hand, renewals, activity.note)
    finisher = Finisher(
        *(frontier, hand, returns, restarts), claim_soon=claim_soon, sent_ago_ms=sent_ago_ms
    )
    settling = Settling(frontier, activity, buffer, ready, hand, returns, again, now_s)
    return ClaimParts(
        activity,
        ready,
        hand,
        buffer,
        returns,
        renewals,
        supply,
        claimer,
        storing,
        restarts,
        finisher,
        settling,
    )

"""The rules of turns, as pure functions over what is known of a host: who may send to it now.

A worker with claims of a host sends them as its own gate allows, and tells the frontier when they
are finished. Whoever else has something to send to the host, or something that is no claim, visits
it in the frontier first: it tells what it has under way there, and is given turns.

Two workers at one host make it shared. From then on each of them takes a turn for every request,
claims included. One that has claims of the host and sends without turns may be the last to hear of
that, so nobody is given a turn before it has: it is called, and tells what it has under way.

A visit tells all there is to tell. So it can be made twice, what was forgotten comes again with the
next, and a worker that is not heard of any more is forgotten with all that it had.
"""

import msgspec

from weft.config import FrontierConfig
from weft.frontier import policy
from weft.frontier.policy import HostRecord
from weft.records import Turns, Visit

#: A host stays shared for so long after two workers last met there: to begin anew takes a while.
SHARED_MS = 30_000
#: One that waits for a turn, and is not heard of for so long, does not keep others waiting.
PATIENCE_MS = 2_000


class Visitor(msgspec.Struct, array_like=True):
    """A worker that takes turns of a host."""

    owner: str
    heard_at_ms: int = 0
    #: When it is forgotten, if it is not heard of before.
    until_ms: int = 0
    #: Its requests that are under way, and turns that it has not used yet.
    places: int = 0
    #: One of those is not used: nobody knows when that will be sent.
    has_unused: bool = False
    #: The sharing that it keeps to.
    sharing: int = 0
    #: Since when it waits for a turn; 0: it does not.
    waits_since_ms: int = 0

    @property
    def is_busy(self) -> bool:
        return self.places > 0 or self.waits_since_ms > 0


class Visitors(msgspec.Struct, array_like=True):
    """Those of one host."""

    #: A number that is never used again; 0: the host is not shared.
    sharing: int = 0
    shared_until_ms: int = 0
    visitors: list[Visitor] = []

    @property
    def is_over(self) -> bool:
        return not self.visitors and not self.sharing


def forget_gone(there: Visitors, now_ms: int) -> None:
    """Forget who is not heard of any more, and a sharing that is over."""
    there.visitors = [visitor for visitor in there.visitors if visitor.until_ms > now_ms]
    if not there.visitors and there.shared_until_ms <= now_ms:
        there.sharing = 0


def is_shared(there: Visitors, owner: str) -> bool:
    """Whether one who gets claims of the host has to take turns for them."""
    return there.sharing > 0 or any(visitor.owner != owner for visitor in there.visitors)


def take_turns(
    record: HostRecord,
    there: Visitors,
    owner: str,
    visit: Visit,
    keep_ms: int,
    config: FrontierConfig,
    now_ms: int,
) -> Turns:
    """Note what a visit tells, and give what can be given."""
    forget_gone(there, now_ms)
    policy.note_told(record, visit.host, visit, config, now_ms)
    policy.note_status(record, visit.status, visit.retry_after_ms, config, now_ms)
    me = _enter(there, owner, visit, keep_ms, now_ms)
    _note_sharing(there, record, now_ms)
    given, next_in_ms = _give(record, there, me, visit, config, now_ms)
    me.places += given
    me.has_unused |= given > 0
    if given:
        me.waits_since_ms = 0
    is_needed = me.is_busy or (there.sharing and _has_claims(record, owner))
    if not is_needed:
        there.visitors.remove(me)
    record.is_visited = not there.is_over
    pause_ms = record.next_at_ms - now_ms if policy.is_pausing(record, now_ms) else 0
    return Turns(given, next_in_ms, there.sharing, pause_ms)


def called(record: HostRecord, there: Visitors) -> set[str]:
    """Those who have claims of a shared host and may not know yet that it is."""
    if not there.sharing:
        return set()
    knowing = {visitor.owner for visitor in there.visitors if visitor.sharing == there.sharing}
    return {owner for owner, _ in record.owners} - knowing


def _enter(there: Visitors, owner: str, visit: Visit, keep_ms: int, now_ms: int) -> Visitor:
    me = next((visitor for visitor in there.visitors if visitor.owner == owner), None)
    if me is None:
        me = Visitor(owner)
        there.visitors.append(me)
    me.heard_at_ms = now_ms
    me.until_ms = now_ms + keep_ms
    me.places = visit.under_way + visit.unused
    me.has_unused = visit.unused > 0
    me.sharing = visit.sharing
    me.waits_since_ms = (me.waits_since_ms or now_ms) if visit.waiting else 0
    return me


def _note_sharing(there: Visitors, record: HostRecord, now_ms: int) -> None:
    busy = {visitor.owner for visitor in there.visitors if visitor.is_busy}
    if busy and len(busy.union(owner for owner, _ in record.owners)) > 1:
        there.sharing = there.sharing or now_ms
        there.shared_until_ms = now_ms + SHARED_MS
    elif there.shared_until_ms <= now_ms:
        there.sharing = 0


def _give(
    record: HostRecord,
    there: Visitors,
    me: Visitor,
    visit: Visit,
    config: FrontierConfig,
    now_ms: int,
) -> tuple[int, int | None]:
    """How many turns there are for one who waits, and when it may be worth asking for more."""
    if not visit.waiting:
        return 0, None
    unaware = called(record, there)
    if me.owner in unaware:
        return 0, 0  # it hears of it by this answer
    if unaware:
        return 0, None
    is_host_its_own = not there.sharing and _has_claims(record, me.owner)
    has_delay = not is_host_its_own and policy.delay_ms(record, visit.host, config) > 0
    if record.next_at_ms > now_ms and (has_delay or record.is_pausing):
        return 0, record.next_at_ms - now_ms
    free = visit.concurrency - sum(visitor.places for visitor in there.visitors)
    if free <= 0 or _is_behind(there, me, now_ms):
        return 0, None
    if not has_delay:
        return min(free, visit.waiting), None
    # The delay counts from the moment of sending: who has a turn uses it first.
    if any(visitor.has_unused for visitor in there.visitors):
        return 0, None
    policy.start_delay(record, visit.host, config, now_ms)
    return 1, policy.delay_ms(record, visit.host, config)


def _is_behind(there: Visitors, me: Visitor, now_ms: int) -> bool:
    """Whether someone has been waiting for longer."""
    return any(
        other.waits_since_ms > 0
        and other.heard_at_ms + PATIENCE_MS > now_ms
        and (other.waits_since_ms, other.owner) < (me.waits_since_ms, me.owner)
        for other in there.visitors
    )


def _has_claims(record: HostRecord, owner: str) -> bool:
    return any(name == owner for name, _ in record.owners)

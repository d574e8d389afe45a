"""The rules of a host's budget, as pure functions over its record. Backends only store."""

from collections.abc import Iterable

import msgspec

from weft.config import FrontierConfig
from weft.records import (
    Claim,
    Ending,
    Fetch,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    Stats,
    Visit,
)
from weft.urls import host_key

#: What pages count as that were fetched elsewhere.
LEARNED_KIND = PageKind.DATA
#: How many ended claims `explain` remembers of one URL.
MAX_FETCHES = 10
#: Requests that are asked of a host at least, if it has them.
PER_HOST = 8
#: Pages that are due and come back into their queues in one call; the others follow in the next.
WAKE_MOST = 256
#: Statuses by which a server says that it has had enough.
OVERLOADED = frozenset({429, 503})
HOUR_MS = 3_600_000


class HostRecord(msgspec.Struct, array_like=True):
    """What a frontier keeps about a host."""

    queued_nav: int = 0
    queued_data: int = 0
    claimed: int = 0
    next_at_ms: int = 0
    backoff: int = 0
    crawl_delay_ms: int = 0
    bad_until_ms: int = 0
    #: Its requests are counted as held.
    is_held: bool = False
    #: Since when (or from when on) it stands among the hosts that can be claimed; 0: it does not.
    ready_at_ms: int = 0
    #: Who has claims of it, and how many.
    owners: list[tuple[str, int]] = []
    parked_nav: int = 0
    parked_data: int = 0
    #: `next_at_ms` is the end of a pause that the host asked for.
    is_pausing: bool = False
    #: Workers take turns of it: then turns move `next_at_ms`, and claims do not.
    is_visited: bool = False
    #: `next_at_ms` is there for a claim of which nobody has said yet that it was sent.
    is_unspent: bool = False

    @property
    def queued(self) -> int:
        return self.queued_nav + self.queued_data

    @property
    def parked(self) -> int:
        return self.parked_nav + self.parked_data


def delay_ms(record: HostRecord, host: str, config: FrontierConfig) -> int:
    """The least time between two fetches of this host."""
    return max(config.limits_of(host).delay_ms, record.crawl_delay_ms)


def is_pausing(record: HostRecord, now_ms: int) -> bool:
    """Whether the host has asked to be left alone."""
    return record.is_pausing and record.next_at_ms > now_ms


def _open_at_ms(record: HostRecord) -> int:
    """From when on claims of this host may be handed out."""
    if record.is_visited and not record.is_pausing:
        return record.bad_until_ms  # whoever has a claim waits for its turn
    return max(record.next_at_ms, record.bad_until_ms)


def allowance(
    record: HostRecord, host: str, owner: str, config: FrontierConfig, now_ms: int
) -> int:
    """How many requests of this host may be handed to this owner now."""
    if _open_at_ms(record) > now_ms:
        return 0
    concurrency = config.limits_of(host).concurrency
    free = max(0, concurrency - record.claimed)
    if delay_ms(record, host, config):
        free = min(free, 1)
    else:
        # Each of those who may share the host has a part of its concurrency.
        part = -(-concurrency // config.workers_of(host))
        free = min(free, max(0, part - dict(record.owners).get(owner, 0)))
    return min(free, record.queued)


def ready_at_ms(record: HostRecord, host: str, config: FrontierConfig, since_ms: int) -> int:
    """From when on this host can be claimed from; 0: not before something changes.

    A host that stands in line already keeps its place; another has one since `since_ms`.
    """
    if not record.queued or record.claimed >= config.limits_of(host).concurrency:
        return 0
    return max(_open_at_ms(record), record.ready_at_ms or since_ms)


def line_end_ms(record: HostRecord, host: str, config: FrontierConfig, now_ms: int) -> int:
    """Where a host that was served stands in line again. Claims are a delay apart, even where it is
    turns that keep the delay: a claim that cannot be sent yet is of no use to anyone."""
    return now_ms + delay_ms(record, host, config) if record.is_visited else now_ms


def may_serve(record: HostRecord, host: str, owner: str, config: FrontierConfig) -> bool:
    """Whether this owner may have more claims of this host, beside those who have some."""
    has_delay = delay_ms(record, host, config) > 0
    held = dict(record.owners).get(owner)
    if held is None:
        return len(record.owners) < (1 if has_delay else config.workers_of(host))
    part = -(-config.limits_of(host).concurrency // config.workers_of(host))
    return has_delay or held < part


def hosts_for(limit: int) -> int:
    """How many hosts are asked at a time: each for some, for to ask a host has its price."""
    return max(1, limit // PER_HOST)


def share(limit: int, hosts: int) -> int:
    """How many each of these hosts gives at first, so that one does not take it all."""
    return max(1, limit // max(1, hosts))


def note_claimed(
    record: HostRecord, host: str, owner: str, count: int, config: FrontierConfig, now_ms: int
) -> None:
    record.claimed += count
    _count_owner(record, owner, count)
    if count and not record.is_visited:
        start_delay(record, host, config, now_ms)
        record.is_unspent = delay_ms(record, host, config) > 0


def start_delay(record: HostRecord, host: str, config: FrontierConfig, now_ms: int) -> None:
    """The right to send is handed out."""
    if delay := delay_ms(record, host, config):
        record.next_at_ms = now_ms + delay
        record.is_pausing = False
        record.is_unspent = False


def note_ended(record: HostRecord, owner: str) -> None:
    """A claim of this owner has ended, in whatever way."""
    record.claimed -= 1
    _count_owner(record, owner, -1)


def _count_owner(record: HostRecord, owner: str, change: int) -> None:
    held = [(name, count + change if name == owner else count) for name, count in record.owners]
    if all(name != owner for name, _ in held):
        held.append((owner, change))
    record.owners = [(name, count) for name, count in held if count > 0]


def note_sent(
    record: HostRecord, host: str, ago_ms: int, config: FrontierConfig, now_ms: int
) -> None:
    """The delay counts from the moment of sending, which was after that of claiming."""
    if delay := delay_ms(record, host, config):
        at_ms = now_ms - ago_ms + delay
        if at_ms >= record.next_at_ms:
            record.next_at_ms = at_ms
            record.is_unspent = False


def note_unsent(record: HostRecord, now_ms: int) -> None:
    """A claim has ended without being sent: a cache had its page, say. So the delay that began with
    it is over, unless its owner has sent something else, which every outcome tells."""
    if record.is_unspent:
        record.next_at_ms = min(record.next_at_ms, now_ms)
        record.is_unspent = False


def note_outcome(
    record: HostRecord, host: str, outcome: Outcome, config: FrontierConfig, now_ms: int
) -> None:
    """What an outcome says about its host: pauses and back-off. That the host does not exist is
    noted elsewhere, see `under_its_name`."""
    if not outcome.is_sent:
        note_unsent(record, now_ms)
    note_told(record, host, outcome, config, now_ms)
    if outcome.is_host_bad:
        return
    if outcome.ending is not Ending.DROPPED or outcome.status in OVERLOADED:
        note_status(record, outcome.status, outcome.retry_after_ms, config, now_ms)


def note_bad(record: HostRecord, config: FrontierConfig, now_ms: int) -> None:
    """This host does not exist."""
    record.bad_until_ms = now_ms + config.bad_host_ms


def under_its_name(request: PackedRequest) -> PackedRequest:
    """A request of a host that does not exist, as it is held: its host key may stand for others
    too, which exist."""
    name = host_key(request.url) or request.host
    return request if name == request.host else msgspec.structs.replace(request, host=name)


def note_told(
    record: HostRecord, host: str, told: Outcome | Visit, config: FrontierConfig, now_ms: int
) -> None:
    if told.crawl_delay_ms:
        record.crawl_delay_ms = min(told.crawl_delay_ms, config.max_pause_ms)
    if told.sent_ago_ms is not None:
        note_sent(record, host, told.sent_ago_ms, config, now_ms)


def note_status(
    record: HostRecord, status: int, retry_after_ms: int, config: FrontierConfig, now_ms: int
) -> None:
    """What an answer says about its host. Those to requests that were under way together count
    once, the worst of them."""
    if status in OVERLOADED:
        if not is_pausing(record, now_ms):
            record.backoff += 1
        pause = config.backoff_ms * 2 ** min(record.backoff - 1, 30)
        pause = min(pause, config.max_backoff_ms)
        asked = min(retry_after_ms, config.max_pause_ms)
        record.next_at_ms = max(record.next_at_ms, now_ms + max(pause, asked))
        record.is_pausing = True
        record.is_unspent = False
    elif status and not is_pausing(record, now_ms):
        record.backoff = 0


def names(request: PackedRequest) -> list[int]:
    """The fingerprints under which `explain` finds a request."""
    if request.url_fingerprint:
        return [request.fingerprint, request.url_fingerprint]
    return [request.fingerprint]


def is_in_reach(due_at_ms: int, now_ms: int, due_for_ms: int) -> bool:
    """Whether a claim that wants pages which have been due for so long ever gets this one."""
    return due_for_ms == 0 or due_at_ms <= now_ms - due_for_ms


def due_at_ms(outcome: Outcome, now_ms: int) -> int | None:
    """When the page is visited again; None: never, or another request replaces it, or it is held
    for a host that does not exist."""
    if outcome.due_in_ms is None or outcome.is_host_bad or outcome.ending is Ending.REPLACED:
        return None
    return now_ms + max(0, outcome.due_in_ms)


def is_due_at_once(outcome: Outcome) -> bool:
    return outcome.due_in_ms is not None and outcome.due_in_ms <= 0


def is_given_up(outcome: Outcome) -> bool:
    """Whether its URL is bad from now on. One that is visited again is not: when it is found it
    would be queued besides."""
    is_over = outcome.due_in_ms is None and not outcome.is_host_bad
    return is_over and outcome.ending is Ending.FAILED


def next_visit(request: PackedRequest, outcome: Outcome) -> PackedRequest:
    """The request of a page that waits: it stays the same page of the same host."""
    if outcome.again is None:
        return request
    return msgspec.structs.replace(
        outcome.again, fingerprint=request.fingerprint, host=request.host, dropped_by=""
    )


def fetch_of(request: PackedRequest, outcome: Outcome, now_ms: int) -> Fetch:
    return Fetch(now_ms, outcome.ending, outcome.status, outcome.note, request.kind)


def count_ending(stats: Stats, ending: Ending) -> None:
    match ending:
        case Ending.DONE:
            stats.done += 1
        case Ending.REPLACED:
            stats.replaced += 1
        case Ending.FAILED:
            stats.failed += 1
        case Ending.DROPPED:  # pragma: no branch - there is no other
            stats.refused += 1


def hour_of(outcomes: Iterable[Outcome], now_ms: int) -> Hour | None:
    """What outcomes that were accepted now add to their hour; None: nothing."""
    pages = items = failed = 0
    for outcome in outcomes:
        pages += outcome.ending is Ending.DONE
        failed += outcome.ending is Ending.FAILED
        items += outcome.items
    if not (pages or items or failed):
        return None
    return Hour(now_ms - now_ms % HOUR_MS, pages, items, failed, now_ms, now_ms)


def sum_hours(hours: Iterable[Hour]) -> list[Hour]:
    """Those that begin at the same time as one, the oldest first."""
    sums: dict[int, Hour] = {}
    for hour in hours:
        so_far = sums.get(hour.start_ms)
        sums[hour.start_ms] = _together(so_far, hour) if so_far else hour
    return sorted(sums.values(), key=lambda hour: hour.start_ms)


def _together(one: Hour, other: Hour) -> Hour:
    return Hour(
        start_ms=one.start_ms,
        pages=one.pages + other.pages,
        items=one.items + other.items,
        failed=one.failed + other.failed,
        first_at_ms=min(one.first_at_ms, other.first_at_ms),
        last_at_ms=max(one.last_at_ms, other.last_at_ms),
    )


def explained(claim: Claim, state: HostState) -> Claim:
    """As people see it: with the delay that its host has now."""
    return msgspec.structs.replace(claim, delay_ms=state.delay_ms)


def host_state(record: HostRecord, host: str, config: FrontierConfig) -> HostState:
    return HostState(
        host=host,
        queued=record.queued,
        claimed=record.claimed,
        next_at_ms=record.next_at_ms,
        delay_ms=delay_ms(record, host, config),
        backoff=record.backoff,
        bad_until_ms=record.bad_until_ms,
        parked=record.parked,
    )

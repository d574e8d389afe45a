"""The rules of a host's budget, as pure functions over its record. Backends only store."""

import msgspec

from weft.config import FrontierConfig
from weft.records import Ending, HostState, Outcome, PackedRequest, Stats

#: How many ended claims `explain` remembers of one URL.
MAX_FETCHES = 10
#: Statuses by which a server says that it has had enough.
OVERLOADED = frozenset({429, 503})


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

    @property
    def queued(self) -> int:
        return self.queued_nav + self.queued_data


def delay_ms(record: HostRecord, host: str, config: FrontierConfig) -> int:
    """The least time between two fetches of this host."""
    return max(config.limits_of(host).delay_ms, record.crawl_delay_ms)


def allowance(record: HostRecord, host: str, config: FrontierConfig, now_ms: int) -> int:
    """How many requests of this host may be handed out now."""
    if max(record.next_at_ms, record.bad_until_ms) > now_ms:
        return 0
    free = max(0, config.limits_of(host).concurrency - record.claimed)
    if delay_ms(record, host, config):
        free = min(free, 1)
    return min(free, record.queued)


def ready_at_ms(record: HostRecord, host: str, config: FrontierConfig, now_ms: int) -> int:
    """From when on this host can be claimed from; 0: not before something changes.

    A host that stands in line already keeps its place.
    """
    if not record.queued or record.claimed >= config.limits_of(host).concurrency:
        return 0
    return max(record.next_at_ms, record.bad_until_ms, record.ready_at_ms or now_ms)


def share(limit: int, hosts: int) -> int:
    """How many each of the ready hosts gives at first, so that one does not take it all."""
    return max(1, limit // max(1, hosts))


def note_claimed(
    record: HostRecord, host: str, count: int, config: FrontierConfig, now_ms: int
) -> None:
    record.claimed += count
    delay = delay_ms(record, host, config)
    if count and delay:
        record.next_at_ms = now_ms + delay


def note_outcome(record: HostRecord, outcome: Outcome, config: FrontierConfig, now_ms: int) -> None:
    """What an outcome says about its host: pauses, back-off, or that it does not exist."""
    if outcome.crawl_delay_ms:
        record.crawl_delay_ms = min(outcome.crawl_delay_ms, config.max_pause_ms)
    if outcome.is_host_bad:
        record.bad_until_ms = now_ms + config.bad_host_ms
    elif outcome.status in OVERLOADED:
        _back_off(record, outcome, config, now_ms)
    elif outcome.status and outcome.ending is not Ending.DROPPED:
        record.backoff = 0


def _back_off(record: HostRecord, outcome: Outcome, config: FrontierConfig, now_ms: int) -> None:
    # Answers to requests that were under way together count once.
    is_pausing = record.backoff > 0 and record.next_at_ms > now_ms
    if not is_pausing:
        record.backoff += 1
    pause = config.backoff_ms * 2 ** min(record.backoff - 1, 30)
    pause = min(pause, config.max_backoff_ms)
    asked = min(outcome.retry_after_ms, config.max_pause_ms)
    record.next_at_ms = max(record.next_at_ms, now_ms + max(pause, asked))


def names(request: PackedRequest) -> list[int]:
    """The fingerprints under which `explain` finds a request."""
    if request.url_fingerprint:
        return [request.fingerprint, request.url_fingerprint]
    return [request.fingerprint]


def count_ending(stats: Stats, ending: Ending) -> None:
    match ending:
        case Ending.DONE:
            stats.done += 1
        case Ending.REPLACED:
            stats.replaced += 1
        case Ending.FAILED:
            stats.failed += 1
        case Ending.DROPPED:
            stats.refused += 1


def host_state(record: HostRecord, host: str, config: FrontierConfig) -> HostState:
    return HostState(
        host=host,
        queued=record.queued,
        claimed=record.claimed,
        next_at_ms=record.next_at_ms,
        delay_ms=delay_ms(record, host, config),
        backoff=record.backoff,
        bad_until_ms=record.bad_until_ms,
    )

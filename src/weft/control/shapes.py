"""What the API tells where that is not what a service returns: records by name instead of by place,
and nothing that may be secret."""

import msgspec

from weft.cluster.nodes import Node, NodeJobStatus
from weft.records import Claim, Explanation, Fetch, HostState, PageKind, SeenReport
from weft.services.frontiers import Look
from weft.services.nodes import JobWorker, SteeredNode
from weft.services.statistics import Span, StatsPeriod
from weft.services.visits import PageVisits, visits_of


class ToldNode(msgspec.Struct, frozen=True):
    """A node, as it was last heard of."""

    name: str
    #: running, draining, drained or lost.
    state: str
    heard_ago_ms: int
    instance: str
    host: str
    pid: int
    cores: int
    processes: int
    cpu_share: float
    memory_bytes: int
    memory_total_bytes: int
    load: float
    pages: int
    pages_per_s: float
    errors: int
    deaths: int
    #: The jobs that it serves, by name.
    jobs: dict[str, NodeJobStatus]
    version: str
    started_at_ms: int


class ToldSteering(msgspec.Struct, frozen=True):
    """A node that was told something, and whether it has obeyed. If not, it takes longer: the order
    stands."""

    node: ToldNode
    has_obeyed: bool


class ToldWorker(msgspec.Struct, frozen=True):
    """A worker of a job, as it was last heard of."""

    job: str
    name: str
    state: str
    heard_ago_ms: int
    #: Empty: it was started by hand.
    node: str
    host: str
    pid: int
    buckets: int
    weight: float
    speed: float
    pages: int
    pages_per_s: float
    errors: int
    cpu_share: float
    memory_bytes: int
    claims: int


class PausedJob(msgspec.Struct, frozen=True):
    """A job that was paused, and how many of its workers wait."""

    workers: int


class ToldFrontier(msgspec.Struct, frozen=True):
    """What a frontier reports about itself at one moment."""

    #: Counters and levels, by name.
    stats: dict[str, int]
    is_finished: bool
    next_due_in_ms: int | None
    seen: SeenReport | None


class ToldClaim(msgspec.Struct, frozen=True):
    owner: str
    until_ms: int


class ToldFetch(msgspec.Struct, frozen=True):
    at_ms: int
    #: done, replaced, failed or dropped.
    ending: str
    status: int
    note: str
    #: nav or data.
    kind: str


class ToldUrl(msgspec.Struct, frozen=True):
    """What a frontier knows about a URL, without the request itself."""

    url: str
    kind: str | None
    seen_at_ms: int | None
    found_on_url: str
    queued_kind: str | None
    is_parked: bool
    claim: ToldClaim | None
    host: HostState | None
    dropped_by: str
    dropped_at_ms: int
    bad_until_ms: int
    fetches: list[ToldFetch]
    due_at_ms: int
    visits: PageVisits | None


class ToldPeriods(msgspec.Struct, frozen=True):
    """What was finished, by day or hour, the latest first."""

    by: Span
    items: list[StatsPeriod]
    next: str | None
    #: Of all days and hours; null: nothing was finished yet.
    total: StatsPeriod | None


def tell_node(node: Node) -> ToldNode:
    status = msgspec.structs.asdict(node.status)
    return ToldNode(
        **status
        | {
            "name": node.name,
            "state": node.state.value,
            "heard_ago_ms": node.heard_ago_ms,
            "instance": node.instance,
        }
    )


def tell_steering(steered: SteeredNode) -> ToldSteering:
    return ToldSteering(tell_node(steered.node), steered.has_obeyed)


def tell_worker(found: JobWorker) -> ToldWorker:
    worker = found.worker
    status = msgspec.structs.asdict(worker.status)
    return ToldWorker(
        **status
        | {
            "job": found.job,
            "name": worker.name,
            "state": worker.state,
            "heard_ago_ms": worker.heard_ago_ms,
        }
    )


def tell_look(look: Look) -> ToldFrontier:
    stats = msgspec.structs.asdict(look.stats)
    return ToldFrontier(stats, look.is_finished, look.next_due_in_ms, look.seen)


def tell_url(url: str, found: Explanation) -> ToldUrl:
    return ToldUrl(
        url=found.url or url,
        kind=_word(found.kind),
        seen_at_ms=found.seen_at_ms,
        found_on_url=found.found_on_url,
        queued_kind=_word(found.queued_kind),
        is_parked=found.is_parked,
        claim=_tell_claim(found.claim),
        host=found.host,
        dropped_by=found.dropped_by,
        dropped_at_ms=found.dropped_at_ms,
        bad_until_ms=found.bad_until_ms,
        fetches=[_tell_fetch(each) for each in found.fetches],
        due_at_ms=found.due_at_ms,
        visits=visits_of(found.payload),
    )


def _tell_claim(claim: Claim | None) -> ToldClaim | None:
    return ToldClaim(claim.owner, claim.until_ms) if claim else None


def _tell_fetch(fetch: Fetch) -> ToldFetch:
    return ToldFetch(
        fetch.at_ms, fetch.ending.name.lower(), fetch.status, fetch.note, fetch.kind.name.lower()
    )


def _word(kind: PageKind | None) -> str | None:
    return None if kind is None else kind.name.lower()

"""The frontier: what to fetch next, what is being fetched, what became of it.

How a request lives here: `add` queues it in the queue of its host and page kind unless it is
known; `claim` hands it to a worker when the budget of its host allows; the worker `renew`s the
claim while it works and `finish`es it with an outcome, or `release`s it untouched. A worker that
dies does neither: its claims become overdue and `reclaim` puts them back at the head. If the
outcome says that the page is due again, it waits, and comes back into its queue by itself.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

from weft.config import HostLimits
from weft.records import (
    AddStatus,
    Claims,
    Explanation,
    HostKey,
    HostState,
    Hour,
    Outcome,
    PackedRequest,
    PageKind,
    SeenReport,
    Stats,
    Strategy,
    Turns,
    Visit,
)

if TYPE_CHECKING:  # an embedded store needs no Redis client
    from weft.redis.client import Client


class Hold(NamedTuple):
    """What a worker has of the buckets of a job."""

    buckets: list[int]
    #: Those of them that it is about to give up, and still has claims of.
    leaving: list[int]
    #: One that it had was given to another since the last time; its claims are stale.
    is_lost: bool
    #: Hosts of these buckets that other workers want turns of: if we have claims of them, they wait
    #: until we take turns as well.
    called: tuple[str, ...] = ()


class GivesTurns(Protocol):
    """The budget of a host holds for all requests of all workers, those too that are no claims
    (side requests: robots.txt, media files, what a callback sends inline).

    A worker that has claims of a host sends them, and side requests for which it has turns, as its
    own gate allows: no two within the delay, no more than the concurrency at a time. While the host
    is *shared*, for other workers send to it as well, each request there takes a turn.

    *Budget.* No turn is given while the host is backing off, nor beyond its concurrency, counting
    what all visitors have under way. Where the host is shared, or the worker has no claims of it,
    none is given within the delay of the last request, nor while another turn waits to be used.
    What a visit tells of answers counts like outcomes of claims, and claims are not handed out
    within a pause that it began.

    *Order.* Who waits for a turn is served before who comes later, claims or not.

    *Waiting.* Nobody waits for the end of a claim: one that is held up by a side request of its own
    would wait for ever. Only what is under way counts.

    *Crashes.* A visitor that is not heard of for `keep_ms` is forgotten with all that it had. A
    visit tells everything anew: it may be made twice, and puts right what a store that went back
    has forgotten.
    """

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        """Tell what this worker has under way at hosts, and take turns there.

        Each host once. To be called again while something is under way or waits there, more often
        than `keep_ms`, and when it has ended.
        """
        ...


@runtime_checkable
class LeasesBuckets(Protocol):
    """A frontier that workers share: its hosts are divided into buckets, and a worker claims only
    from those that it has leases of.

    Who takes the lease of a bucket puts back all claims that others had there, in the same step: no
    outcome of theirs is accepted after that.
    """

    @property
    def buckets(self) -> int:
        """How many there are."""
        ...

    @property
    def assignment(self) -> Strategy:
        """How they are divided among the workers."""
        ...

    @property
    def virtual_nodes(self) -> int:
        """Places in the virtual table of the assignment `two-level`."""
        ...

    @property
    def project(self) -> str:
        """The project that the job belongs to; empty: none, or it is not known."""
        ...

    async def hold(
        self,
        owner: str,
        wanted: Collection[int],
        *,
        lease_ms: int,
        may_evict: bool,
        sharers: int,
    ) -> Hold:
        """Keep, take and give up leases, so that the owner has those of the wanted buckets.

        One that is not wanted any more is kept until its last claim has ended. `may_evict`: a lease
        that has run out may be taken from its holder. `sharers`: how many workers there are for a
        host that several may serve.
        """
        ...

    async def keep_leases(self, client: "Client", owner: str, lease_ms: int) -> bool:
        """Keep the leases that the owner has, and take none; whether all are still its own. May be
        called in another thread, with a client of that."""
        ...

    def leaving(self, tokens: Iterable[int]) -> list[int]:
        """Those of these claims whose buckets are to be given up."""
        ...


#: What else is forgotten when a crawl starts over: its items.
AlsoForget = Callable[[], Awaitable[None]]


class Frontier(GivesTurns, Protocol):
    """What a crawl works with; `weft.testing.frontier_contract` has the tests of every backend.

    *Atomic.* Each call takes effect completely or not at all, whatever dies meanwhile; where a
    backend divides its hosts into buckets, this holds for each bucket. What a call has answered
    survives `kill -9` of the process (where the backend survives its process).

    *Batches.* Arguments are sequences, answers line up with them, one status per element.

    *Seen.* A request that is not forced is queued at most once for each fingerprint. Two
    exceptions: a URL that failed is taken again when it is found after its time, and `clear`
    forgets.

    *Claims.* A request is in at most one claim. A claim ends by `finish`, `release`, or `reclaim`
    once it is overdue; after that its token is stale, and whatever comes with it is ignored and
    counted. No token is used twice, not even by a store that went back to an earlier state.

    *Known.* Every claim in the name of a living owner is known to it. An answer may be lost, and a
    store that went back brings finished claims back to life; so `renew` names all claims that its
    owner knows of, and puts back the others in its name. An owner renews at once when `restarts`
    has changed, so that nothing waits for a deadline.

    *Order.* Within a host, data before nav; within a queue as `Order` says. What is released or
    reclaimed goes to the head of its queue, the first claimed first. Between hosts there is no
    order: each is served when its budget allows, the one that waited longest first.

    *Budget.* No two claims of a host are handed out within its delay, nor more than its
    concurrency at a time, nor any while it is backing off. The delay counts from the moment that
    the outcome of a claim names as that of sending; a claim that ended without being sent costs
    none. A host that may not be fetched never stands
    in the way of one that may. The cost of `claim` grows with the number asked for, not with the
    number of hosts or of queued requests.

    *Owners.* At most `workers_per_host` owners have claims of a host at a time, each no more than
    its part of the concurrency; only one if the host has a delay, for only then can that owner
    keep the delay at the moment of sending.

    *Again.* A page whose outcome has `due_in_ms` waits from the moment that its claim ends; with 0
    it goes to the end of its queue at once. When it
    is due, the next `claim` puts it at the end of its queue, some hundreds of pages at a time, the
    first due first; then it is a queued request like any other. All the while it is known. So each
    page is in one queue, one claim, or waiting, unless one of its requests was forced. A page that
    failed is not noted as bad if it waits. What `REPLACED` or `is_host_bad` say about the request
    goes before: then it does not wait. `clear` of a kind forgets what waits as that kind. The cost
    of `claim` does not grow with the number of pages that wait. Of many visits to such pages a
    store may remember the last ones only.

    *Finished.* `stats().pending` counts what is queued, parked and claimed, without the requests
    that wait for bad hosts, and without pages that wait until they are due. A crawl is finished
    when it is 0 twice in a row with the same `added`. A run ends then, unless a page that was due
    when it began still waits: the bucket may be leased to a worker that died.

    *Host keys.* Queue and budget belong to the `host` of a request, its host key. A host that does
    not exist is bad under its own name, whatever its host key: what was claimed of it is held
    under that name, and others of the same host key are served as before.

    *Clock.* Deadlines are kept by the frontier's own clock. What a worker is told is relative.
    """

    @property
    def restarts(self) -> int:
        """How often the store may have gone back to an earlier state under us, by a restart or a
        failover; stays 0 where that cannot happen."""
        ...

    @property
    def host_key(self) -> HostKey:
        """What the job was begun with."""
        ...

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        """Change the limits of these hosts for what is claimed here from now on; None: those of all
        hosts. Other workers have to be told by themselves."""
        ...

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc_info: object) -> None: ...

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        """Start the crawl, join it, or go on with it; before the first `add`.

        An earlier crawl is forgotten if `is_fresh`, or if `is_rerun` and nothing of it is pending,
        however it ended: then the answer is True. What is held is forgotten with it. Of several
        workers that begin at the same time one forgets, and the others wait for it; `also_forget`
        is called before they are let in. A crawl that a worker still works on is not forgotten
        because it has nothing to do just now.
        """
        ...

    async def mark_finished(self) -> None:
        """Remember that the crawl ended by itself, for those who ask `is_finished`."""
        ...

    async def is_finished(self) -> bool:
        """Whether the crawl ended by itself and nothing was added since."""
        ...

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        """Queue those that are not known."""
        ...

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        """Give host names their host keys, once and for all: the key of each name from now on.

        The first that was ever given is kept, whoever comes with another. An empty key only asks;
        where none was given, the answer is empty. `clear` forgets, if it forgets everything.
        """
        ...

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        """Hand out up to `limit` requests of hosts that may be fetched now. Of the pages that wait,
        only those come back that have been due for `due_for_ms`.

        `next_in_ms` says when that may be worth another call: a host may be fetched again, or a
        page is due; or, somewhat before, there is something to prepare.
        """
        ...

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        """Push the deadlines of these claims, which are all that the owner knows of; False for
        those that are stale or another's.

        Other claims in the name of the owner are put back, as `reclaim` does it.
        """
        ...

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """End claims; False for those that are stale.

        If the store was restarted since the claims were made (`restarts` has changed), it may have
        forgotten what they brought. Then they are not ended: the next `renew` puts them back.
        """
        ...

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        """Put claims back untouched; False for those that are stale."""
        ...

    async def reclaim(self) -> int:
        """Put overdue claims back; the number of them."""
        ...

    async def stats(self) -> Stats: ...

    async def next_due_in_ms(self) -> int | None:
        """How soon the first of all pages that wait is due, whoever may claim it; less than 0: how
        long it has been due; None: nothing waits."""
        ...


class ServesPeople(Protocol):
    """What people ask of a frontier, and workers never do: to look into it, and to change what it
    knows. These calls may scan queues and logs, and no page waits for them.
    """

    async def hours(self) -> list[Hour]:
        """What `finish` accepted, by the hour of the frontier's clock, the oldest first; without
        hours in which there was nothing. Kept until `clear` forgets everything."""
        ...

    async def hosts(self, limit: int) -> list[HostState]:
        """Hosts with queued requests or claims, the busiest queue first."""
        ...

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        """What became of these.

        `host` says where to look for what is queued; None: everywhere. A claim has the delay that
        its host has now, which may not be the one that it was handed out with.
        """
        ...

    async def seen_report(self) -> SeenReport | None:
        """How it remembers URLs; None: there is nothing to say, each has a record of its own."""
        ...

    async def learn(self, fingerprints: Sequence[int]) -> None:
        """Make fingerprints known whose pages were fetched elsewhere, all of them in one call.

        They count as data pages. A request that is queued stays queued. Not atomic: a call that
        was cut short is made again. Workers that have the frontier open need not notice.
        """
        ...

    async def clear(self, kind: PageKind | None = None) -> None:
        """Empty the queues of one kind and forget its pages and their fetches, claims excepted;
        None: everything."""
        ...


class FrontierBackend(Frontier, ServesPeople, Protocol):
    """What a backend implements: both."""

"""The frontier: what to fetch next, what is being fetched, what became of it.

How a request lives here: `add` queues it in the queue of its host and page kind unless it is
known; `claim` hands it to a worker when the budget of its host allows; the worker `renew`s the
claim while it works and `finish`es it with an outcome, or `release`s it untouched. A worker that
dies does neither: its claims become overdue and `reclaim` puts them back at the head.
"""

from collections.abc import Sequence
from typing import Protocol, Self

from weft.records import (
    AddStatus,
    Claims,
    Explanation,
    HostState,
    Outcome,
    PackedRequest,
    PageKind,
    Stats,
)


class Frontier(Protocol):
    """The contract of every backend; `weft.testing.frontier_contract` has its tests.

    *Atomic.* Each call takes effect completely or not at all, whatever dies meanwhile. What a
    call has answered survives `kill -9` of the process (where the backend survives its process).

    *Batches.* Arguments are sequences, answers line up with them, one status per element.

    *Seen.* A request that is not forced is queued at most once for each fingerprint. Two
    exceptions: a URL that failed is taken again when it is found after its time, and `clear`
    forgets.

    *Claims.* A request is in at most one claim. A claim ends by `finish`, `release`, or `reclaim`
    once it is overdue; after that its token is stale, and whatever comes with it is ignored and
    counted.

    *Order.* Within a host, data before nav; within a queue as `Order` says. What is released or
    reclaimed goes to the head of its queue, the first claimed first. Between hosts there is no
    order: each is served when its budget allows, the one that waited longest first.

    *Budget.* No two claims of a host are handed out within its delay, nor more than its
    concurrency at a time, nor any while it is backing off. A host that may not be fetched never
    stands in the way of one that may. The cost of `claim` grows with the number asked for, not
    with the number of hosts or of queued requests.

    *Finished.* `stats().pending` counts what is queued and claimed, without the requests that
    wait for bad hosts. A crawl is finished when it is 0 twice in a row with the same `added`.
    """

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc_info: object) -> None: ...

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        """Queue those that are not known."""
        ...

    async def claim(self, owner: str, limit: int) -> Claims:
        """Hand out up to `limit` requests of hosts that may be fetched now."""
        ...

    async def renew(self, tokens: Sequence[int]) -> list[bool]:
        """Push the deadlines of these claims; False for those that are stale."""
        ...

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """End claims; False for those that are stale."""
        ...

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        """Put claims back untouched; False for those that are stale."""
        ...

    async def reclaim(self) -> int:
        """Put overdue claims back; the number of them."""
        ...

    async def stats(self) -> Stats: ...

    async def hosts(self, limit: int) -> list[HostState]:
        """Hosts with queued requests or claims, the busiest queue first (for people: it scans)."""
        ...

    async def explain(self, fingerprints: Sequence[int]) -> list[Explanation]:
        """What became of these (for people: it may scan a queue)."""
        ...

    async def clear(self, kind: PageKind | None = None) -> None:
        """Empty the queues of one kind and forget its pages, claims excepted; None: everything."""
        ...

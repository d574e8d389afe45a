"""Requests that cannot be packed: they are kept in memory, as part of the claim of their page.

That claim is finished only when they are done, and so are the kept requests that they bring in
turn. If this process dies before, the page is fetched again and yields them again: none is lost.
They stay with this worker, whatever hosts they are for, and take turns there like side requests.

A request that replaces another, such as a retry, is part of the same claim. One that no page has
brought, such as one that an extension makes, is part of none, and is gone when this process dies.

A start request has a claim of its own even if it cannot be packed: `start` makes it again in every
process, see `KeptStarts`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

import msgspec
from scrapy import Request

from weft.engine.claims.outcome import Fate
from weft.engine.claims.ready import Ready
from weft.errors import PackError, UnpackableError
from weft.records import AddStatus, Claim, PackedRequest

#: The payload of a start request that is kept.
KEPT = msgspec.msgpack.encode({"kept": True})


class KeptRequests:
    def __init__(
        self,
        ready: Ready,
        *,
        put_link: Callable[[PackedRequest], None],
        may_send: Callable[[Claim | None], bool],
        end_claim: Callable[[Fate], None],
        counts: Counter[str],
    ) -> None:
        """`put_link` passes a request on to the frontier. `end_claim` is called with a claim that
        was set aside, when nothing is left of it."""
        self._ready = ready
        self._put_link = put_link
        self._may_send = may_send
        self._end_claim = end_claim
        self._counts = counts
        # All that are not in Scrapy's hands yet, by the tokens that they have among themselves.
        self._waiting: dict[int, tuple[Request, Fate]] = {}
        # Those of which the frontier has not said yet whether it knows them, by fingerprint.
        self._asked: dict[int, Fate] = {}
        # Claims that only wait for theirs, by token.
        self._aside: dict[int, Fate] = {}
        # The fingerprints of those of claims that are not finished, by token.
        self._numbers: dict[int, list[int]] = {}
        self._last_token = 0
        #: The fingerprints of all that need not be kept again.
        self.known: set[int] = set()
        #: How many are not done.
        self.left = 0

    def keep(
        self, request: Request, packed: PackedRequest, parent: Fate | None, why: UnpackableError
    ) -> bool:
        """Returns False if it is known. `packed`: what identifies it. `parent`: the request that
        brought it, if one did."""
        root = parent.part_of if parent is not None and parent.is_kept else parent
        if root is not None and root.is_abandoned:
            return False  # whoever works on the page next makes it again
        number = packed.fingerprint
        if number in self.known and not packed.is_forced:
            self._counts["dupefilter/filtered"] += 1
            return False
        self._last_token -= 1  # other than those of all real claims
        claim = Claim(self._last_token, packed, owner="", until_ms=0, delay_ms=0)
        fate = Fate(claim, is_downloaded=True, is_kept=True, part_of=root)
        self._waiting[claim.token] = request, fate
        self.known.add(number)
        self.left += 1
        if root is not None:
            root.kept += 1
            self._numbers.setdefault(root.claim.token, []).append(number)
        self._ask(packed, fate, f"kept in memory with its page: {why.field} {why.problem}")
        return True

    def _ask(self, packed: PackedRequest, fate: Fate, rule: str) -> None:
        """Tell the frontier, for `explain`, and hear whether it knows the page."""
        by_url = packed.url_fingerprint or packed.fingerprint
        is_filtered = not packed.is_forced and not packed.url_fingerprint
        if is_filtered:
            self._asked[by_url] = fate
        else:
            self._ready.put(fate.claim)
        if not packed.is_forced:
            self._put_link(msgspec.structs.replace(packed, fingerprint=by_url, dropped_by=rule))

    def note_added(self, links: Sequence[PackedRequest], statuses: Sequence[AddStatus]) -> None:
        """What the frontier said about links, some of which may be kept here."""
        if not self._asked:
            return
        for link, status in zip(links, statuses, strict=True):
            if link.dropped_by and (fate := self._asked.pop(link.fingerprint, None)):
                if fate.claim.token not in self._waiting:
                    continue  # dropped since
                if status is AddStatus.KNOWN:
                    self._counts["dupefilter/filtered"] += 1
                    del self._waiting[fate.claim.token]
                    self._end(fate)
                else:
                    self._ready.put(fate.claim)

    # In Scrapy's hands

    @property
    def can_take(self) -> bool:
        return self._ready.can_send

    def take(self) -> tuple[Request, Fate] | None:
        """The next one to send."""
        while claim := self._ready.take():
            request, fate = self._waiting.pop(claim.token)
            if fate.part_of is None or self._may_send(fate.part_of.claim):
                return request, fate
            fate.is_abandoned = True
            self.let_go(fate)
        return None

    def let_go(self, fate: Fate) -> None:
        """Scrapy has let go of one, or of a page of which some are left."""
        if fate.is_kept:
            self._ready.ended(fate.claim.request.host)
            self._end(fate)
        else:
            self._aside[fate.claim.token] = fate
            if fate.is_abandoned:
                self._abandon(fate)
            self._end_if_done(fate)

    def _end(self, fate: Fate) -> None:
        self.left -= 1
        root = fate.part_of
        if root is None:
            return
        root.kept -= 1
        root.items += fate.items
        if fate.is_retry_of_claim:
            root.take_over(fate)
        if fate.is_abandoned:
            self._abandon(root)
        self._end_if_done(root)

    # Their claims

    def _end_if_done(self, root: Fate) -> None:
        if not root.kept and root.claim.token in self._aside:
            del self._aside[root.claim.token]
            self._end_claim(root)

    def _abandon(self, root: Fate) -> None:
        """The page will be worked on again, here or elsewhere: forget what it brought."""
        root.is_abandoned = True
        self.known.difference_update(self._numbers.pop(root.claim.token, ()))
        self._drop([fate for _, fate in self._waiting.values() if fate.part_of is root])

    def _drop(self, fates: Sequence[Fate]) -> None:
        self._ready.discard({fate.claim.token for fate in fates})
        for fate in fates:
            del self._waiting[fate.claim.token]
            self.left -= 1
            if fate.part_of is not None:
                fate.part_of.kept -= 1

    def drop_all(self) -> None:
        """Send no more: the crawl is being closed."""
        roots = [*self._roots()]
        self._drop([fate for _, fate in self._waiting.values()])
        for root in roots:
            self._abandon(root)
            self._end_if_done(root)

    def _roots(self) -> Iterator[Fate]:
        """The claims of those that wait, each once."""
        roots = {id(fate.part_of): fate.part_of for _, fate in self._waiting.values()}
        return (root for root in roots.values() if root is not None)

    def note_finished(self, tokens: Sequence[int], repeated: Set[int]) -> None:
        """These claims have ended. The pages of those that are repeated are worked on again."""
        if not self._numbers:
            return
        for token in tokens:
            numbers = self._numbers.pop(token, ())
            if token in repeated:
                self.known.difference_update(numbers)


class KeptStarts:
    """Start requests that cannot be packed. The frontier has their claims, and every process makes
    the requests themselves."""

    def __init__(self) -> None:
        self._requests: dict[int, Request] = {}
        #: There are no more start requests.
        self.are_complete = False

    def put(self, request: Request, packed: PackedRequest) -> PackedRequest:
        """What the frontier gets for it."""
        self._requests[packed.fingerprint] = request
        return msgspec.structs.replace(packed, payload=KEPT)

    def find(self, packed: PackedRequest) -> Request | None:
        """The request itself; None if `start` has not come to it yet. Raises PackError if it never
        will."""
        request = self._requests.get(packed.fingerprint)
        if request is None:
            if self.are_complete:
                problem = (
                    "cannot be stored, and start() has not made the request again; let start() "
                    "yield it, or start over with --fresh (WEFT_FRESH)"
                )
                raise PackError(packed.url, "payload", problem)
            return None
        # It may be claimed once more. Scrapy changes what it gets.
        self._requests[packed.fingerprint] = request.copy()
        return request

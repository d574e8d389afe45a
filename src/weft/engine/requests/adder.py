"""Adds requests and links to the frontier: each is packed once, and passed on once.

A process remembers what it has passed on recently. Most links of a site are found again and again,
and need no call to the frontier.
"""

import logging
from collections import Counter, deque

from scrapy import Request, Spider
from scrapy.http import Response

from weft.clock import Clock
from weft.engine.claims.buffer import Buffer
from weft.engine.claims.fates import Fates
from weft.engine.claims.inhand import InHand
from weft.engine.claims.outcome import SPIDER_ERROR, Fate
from weft.engine.claims.results import Results
from weft.engine.requests.follow import (
    FollowAll,
    absolute_urls,
    depth_of_links,
    link_request,
)
from weft.engine.requests.intake import Intake
from weft.engine.requests.kept import KeptRequests, KeptStarts
from weft.engine.requests.positions import Position
from weft.engine.requests.recent import Interval, RecentNumbers
from weft.engine.requests.rules import LinkRules
from weft.errors import FingerprintError, PackError, UnpackableError
from weft.records import PackedRequest
from weft.urls import fingerprint, host_key

logger = logging.getLogger(__name__)

#: How many links this process remembers having passed on, at 8 bytes each: by fingerprint, and
#: again by text.
RECENT = 2**20
#: The same for a single page.
RECENT_ON_PAGE = 2**10
#: All of them are forgotten this many times before a failed URL is accepted again, so that the URL
#: gets through when it is found after that time.
FORGETTINGS = 24
#: How many start requests to keep, and to add again if the store forgets them: no page has them.
MAX_STARTS = 10_000


class RequestAdder:
    def __init__(
        self,
        intake: Intake,
        rules: LinkRules,
        fates: Fates,
        buffer: Buffer,
        hand: InHand,
        results: Results,
        kept: KeptRequests,
        kept_starts: KeptStarts,
        *,
        bad_url_ms: int,
        spider: Spider,
        counts: Counter[str],
        clock: Clock,
    ) -> None:
        """`bad_url_ms`: the time after which a failed URL is accepted again."""
        self._intake = intake
        self._rules = rules
        self._fates = fates
        self._buffer = buffer
        self._hand = hand
        self._results = results
        self._kept = kept
        self._kept_starts = kept_starts
        self._spider = spider
        self._counts = counts
        self._recent = RecentNumbers(RECENT)
        self._known_hrefs = RecentNumbers(RECENT)
        self._interval = Interval(bad_url_ms / FORGETTINGS, clock)
        self._has_kept = False
        self._starts: deque[PackedRequest] = deque(maxlen=MAX_STARTS)

    def add(self, request: Request) -> bool:
        """Returns False if it is known, is not ours to fetch, or is refused."""
        if self._is_made_of_abandoned(request):
            return False
        try:
            try:
                packed = self._intake.pack(request)
            except UnpackableError as error:
                if request not in self._intake.starts:
                    return self._keep(request, error)
                packed = self._kept_starts.put(request, self._intake.pack(request, is_kept=True))
                self._note_kept(error)
        except PackError as error:
            self._refuse(error, request.url)
            self._note_lost(request, error)
            return False
        if not packed.is_forced and not self._is_new(packed.fingerprint):
            self._counts["dupefilter/filtered"] += 1
            return False
        if not packed.found_on:
            self._starts.append(packed)
        self._buffer.put_link(packed)
        self._counts["scheduler/enqueued"] += 1
        return True

    def _is_new(self, number: int) -> bool:
        return number not in self._kept.known and self._recent.add(number)

    def _keep(self, request: Request, error: UnpackableError) -> bool:
        """Keep a request in memory that cannot be packed."""
        parent = self._parent_of(request)
        packed = self._intake.pack(request, is_kept=True)
        if not packed.is_forced and packed.fingerprint in self._recent:
            self._counts["dupefilter/filtered"] += 1
            return False
        is_kept = self._kept.keep(request, packed, parent, error)
        if is_kept:
            self._note_kept(error)
            self._counts["scheduler/enqueued"] += 1
        return is_kept

    def _note_kept(self, error: UnpackableError) -> None:
        """Scrapy has these names for requests that it cannot put into its disk queue."""
        if not self._has_kept:
            self._has_kept = True
            logger.warning(
                "Unable to serialize request: %s. Such requests are kept in memory, and made again "
                "by their pages if this process dies; this is logged once",
                error,
                extra={"spider": self._spider},
            )
        self._counts["scheduler/unserializable"] += 1
        self._counts["scheduler/enqueued/memory"] += 1

    def _parent_of(self, request: Request) -> Fate | None:
        """The request that this one replaces, or whose page it was found on."""
        if old := self._fates.replaced.get(request):
            return self._fates.get(old)
        position = self._intake.found_at.get(request)
        return self._fates.of_page(position.page) if position else None

    def _is_made_of_abandoned(self, request: Request) -> bool:
        """Whether it replaces a request whose claim another worker has now: that worker finds it
        again."""
        old = self._fates.replaced.get(request)
        fate = self._fates.get(old) if old is not None else None
        if fate is None:
            return False
        claim = fate.real_claim
        return fate.is_abandoned or (claim is not None and not self._hand.is_ours(claim))

    def follow(self, response: Response, batch: FollowAll) -> None:
        """Add the links of a page without creating Scrapy requests."""
        urls = absolute_urls(response, batch.links)

        def refuse(error: FingerprintError, url: str) -> None:
            self._refuse(error, url)
            fate = self._fates.get(response.request) if response.request else None
            self._note_raised(error, fate)

        try:
            for packed in self._intake.pack_links(response, urls, batch, self._rules, refuse):
                self._put_new_link(packed)
        except UnpackableError:
            for url in urls:
                self._add_alone(response, url, batch)
        except PackError as error:
            self._refuse(error, *urls)

    def _add_alone(self, response: Response, url: str, batch: FollowAll) -> None:
        """Add a link of a batch that cannot be packed."""
        depth = depth_of_links(response, batch)
        request = link_request(batch, url, depth)
        request.priority = self._rules.priority(batch.priority, depth)
        if response.request is not None:
            self._intake.found_at[request] = Position(self._intake.page_of(response.request), 0)
        if rule := self._rules.dropped_by(url, depth):
            self._drop(url, rule)
        elif self._rules.is_allowed(host_key(url)):
            self.add(request)
        else:
            self._counts["offsite/filtered"] += 1

    def _put_new_link(self, packed: PackedRequest) -> None:
        if not self._rules.is_allowed(packed.host):
            self._counts["offsite/filtered"] += 1
        elif packed.dropped_by or self._recent.add(packed.fingerprint):
            self._buffer.put_link(packed)
            self._counts["scheduler/enqueued"] += not packed.dropped_by
        else:
            self._counts["dupefilter/filtered"] += 1

    def note_dropped(self, request: Request) -> None:
        """If a rule keeps this request out, remember which."""
        if rule := self._rules.dropped_by(request.url, request.meta.get("depth", 0)):
            self._drop(request.url, rule)

    def _drop(self, url: str, rule: str) -> None:
        packed = PackedRequest(fingerprint(url), url, host_key(url), dropped_by=rule)
        self._buffer.put_link(packed)

    # What was passed on recently

    def is_known(self, request: Request) -> bool:
        """Whether this process has passed it on recently, so that it can be skipped."""
        if self._intake.is_unfiltered(request):
            return False
        is_plain = self._intake.is_plain(request)
        if not (is_plain and hash(request.url) in self._known_hrefs):
            if not self._was_passed_on(request):
                return False
            if is_plain:
                self._known_hrefs.add(hash(request.url))
        self._counts["dupefilter/filtered"] += 1
        return True

    def _was_passed_on(self, request: Request) -> bool:
        try:
            return self._intake.fingerprint(request) in self._recent
        except FingerprintError:  # `add` logs it
            return False

    def known_hrefs(self, depth: int) -> RecentNumbers:
        """The links that this process has come across recently, as hashes of their text.

        Links that are too deep are not included: they may be found again at a lesser depth.
        """
        is_too_deep = self._rules.is_too_deep(depth)
        return RecentNumbers(RECENT_ON_PAGE) if is_too_deep else self._known_hrefs

    def forget_in_time(self) -> None:
        """Called often. Forgets what was passed on when the interval is over."""
        if self._interval.is_over():
            self._forget()

    def add_again(self) -> None:
        """The frontier may have forgotten what was passed on recently: pass it on again."""
        self._forget()
        for packed in self._starts:
            self._buffer.put_link(packed)

    def _forget(self) -> None:
        self._recent.clear()
        self._known_hrefs.clear()

    # What goes wrong

    def _refuse(self, error: PackError, *urls: str) -> None:
        """Log and remember requests that cannot be stored. Nothing else fails because of them."""
        logger.error("%s", error, exc_info=_raised(error), extra={"spider": self._spider})
        self._counts["scheduler/unpackable"] += len(urls)
        for url in urls:
            self._drop(url, f"{error.field} {error.problem}")

    def _note_lost(self, request: Request, error: PackError) -> None:
        """Note a lost request on the page where it was found."""
        old = self._fates.replaced.pop(request, None)
        position = self._intake.found_at.get(request)
        if old is not None:
            if fate := self._fates.get(old):
                fate.error = error
        elif isinstance(error, FingerprintError):
            self._note_raised(error, self._fates.of_page(position.page) if position else None)
        elif position is None:  # a start request
            self._results.note_failed(type(error).__name__)

    def _note_raised(self, error: FingerprintError, fate: Fate | None) -> None:
        """Treat it as if the callback that found the request had raised it."""
        self._counts["spider_exceptions/count"] += 1
        self._counts[f"spider_exceptions/{type(error.__cause__).__name__}"] += 1
        if fate is not None:
            fate.spider_error = str(error)
        else:  # a start request
            self._results.note_failed(SPIDER_ERROR)


def _raised(error: PackError) -> BaseException | None:
    """What the project's own code raised, if that is the cause."""
    return error.__cause__ if isinstance(error, FingerprintError) else None

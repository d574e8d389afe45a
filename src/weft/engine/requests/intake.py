"""Packs requests from Scrapy and its spiders for the frontier, and decides which are the same.

Most requests are identified by method, URL and body, and queued once. Unfiltered requests
(`dont_filter`, or all if the project filters nothing) get an identity of their own: a start request
is identified by its place in `start()`, a retry is the page that it retries, and any other is
identified by where it was found. So none of them makes its URL known, and none is queued twice when
a page has to be worked on again or `start()` is run again.
"""

import random
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.http import Response

from weft.engine.claims.outcome import Fate
from weft.engine.requests.fingerprint import (
    Fingerprinter,
    start_fingerprint,
    unfiltered_fingerprint,
)
from weft.engine.requests.follow import FollowAll, depth_of_links, link_request
from weft.engine.requests.pack import Packer
from weft.engine.requests.positions import Position
from weft.engine.requests.rules import LinkRules
from weft.engine.requests.slots import slot_of
from weft.errors import FingerprintError, PackError
from weft.records import PackedRequest, PageKind
from weft.urls import fingerprint, host_key, identity

#: The largest priority that a frontier can sort by.
MAX_PRIORITY = 2**62
#: How many kinds of links are cached in packed form.
MAX_TEMPLATES = 1000
#: Pages whose start requests are counted, at 70 bytes each. Of each page after them only one start
#: request is added.
MAX_STARTS_COUNTED = 1_000_000


class Origins(Protocol):
    """What is needed here about the requests in Scrapy's hands; see `Fates`."""

    @property
    def replaced(self) -> MutableMapping[Request, Request]: ...
    def get(self, request: Request) -> Fate | None: ...


class Intake:
    def __init__(self, fingerprinter: Fingerprinter, packer: Packer, fates: Origins) -> None:
        self._fingerprint = fingerprinter
        self._packer = packer
        self._fates = fates
        self._templates: dict[Any, tuple[PageKind, bytes]] = {}
        #: Requests that came from the spider's `start`, and have not been packed yet.
        self.starts: WeakSet[Request] = WeakSet()
        # How many unfiltered ones were for a page.
        self._starts_of: dict[int, int] = {}
        #: Where the requests from callbacks were found.
        self.found_at: WeakKeyDictionary[Request, Position] = WeakKeyDictionary()

    def page_of(self, request: Request) -> int:
        """The fingerprint of the page that a request fetched."""
        if fate := self._fates.get(request):
            return fate.claim.request.fingerprint
        try:
            return self._fingerprint(request)
        except FingerprintError:  # it is not a claim: any stable number will do
            return fingerprint(request.url, request.method, request.body)

    def pack(self, request: Request, *, is_kept: bool = False) -> PackedRequest:
        """Raises PackError: an UnpackableError if it can only be kept in memory. If it `is_kept`
        there, the result only identifies it."""
        payload = b"" if is_kept else self._packer.pack(request)
        if abs(request.priority) > MAX_PRIORITY:
            problem = f"is {request.priority}; it must be within ±{MAX_PRIORITY}"
            raise PackError(repr(request), "priority", problem)
        old = self._fates.replaced.get(request)
        position = self.found_at.get(request) if old is None else Position(self.page_of(old), 0)
        by_url = number = self._fingerprint(request)
        is_forced = False
        if self.is_unfiltered(request):
            number, is_forced = self._unfiltered(request, by_url, old, position)
        packed = PackedRequest(
            fingerprint=number,
            url=request.url,
            host=slot_of(request) or host_key(request.url),
            kind=kind_of(request),
            priority=request.priority,
            payload=payload,
            found_on=position.page if position else 0,
            is_forced=is_forced,
            url_fingerprint=by_url if by_url != number else 0,
        )
        if old is not None:  # it replaces the old one only once
            del self._fates.replaced[request]
        return packed

    def _unfiltered(
        self, request: Request, by_url: int, old: Request | None, position: Position | None
    ) -> tuple[int, bool]:
        """The fingerprint of an unfiltered request, and whether to force it."""
        if request in self.starts:
            self.starts.discard(request)  # a callback may yield the same object later
            return start_fingerprint(by_url, self._place_in_start(by_url)), False
        if old is not None and self._fingerprint(old) == by_url:
            return self.page_of(old), True  # a retry
        if old is not None and self._is_known_by_url(old):
            return by_url, False  # Scrapy turns its filter off for a retry and its redirects
        # A request of unknown origin is never made again: any position will do.
        position = position or Position(0, random.getrandbits(63))
        return unfiltered_fingerprint(by_url, position), False

    def _place_in_start(self, by_url: int) -> int:
        place = self._starts_of.get(by_url, 0)
        if place or len(self._starts_of) < MAX_STARTS_COUNTED:
            self._starts_of[by_url] = place + 1
        return place

    def _is_known_by_url(self, request: Request) -> bool:
        """Whether it was subject to the filter when it was found."""
        fate = self._fates.get(request)
        return fate is not None and not fate.claim.request.url_fingerprint

    def pack_links(
        self,
        response: Response,
        urls: Iterable[str],
        batch: FollowAll,
        rules: LinkRules,
        refuse: Callable[[FingerprintError, str], None],
    ) -> Iterator[PackedRequest]:
        """Pack the plain links of a page without creating Scrapy requests. Raises PackError for the
        whole batch; `refuse` is called with the problem of a single link."""
        found_on = self.page_of(response.request) if response.request else 0
        depth = depth_of_links(response, batch)
        kind, payload = self._template(response, batch, depth)
        priority = rules.priority(batch.priority, depth)
        for url in urls:
            try:
                number, host = self._identity(url)
            except FingerprintError as error:
                if rules.is_allowed(host_key(url)) and not rules.dropped_by(url, depth):
                    refuse(error, url)
                continue
            yield PackedRequest(
                fingerprint=number,
                url=url,
                host=host,
                kind=kind,
                priority=priority,
                payload=payload,
                found_on=found_on,
                dropped_by=rules.dropped_by(url, depth),
            )

    def _template(self, response: Response, batch: FollowAll, depth: int) -> tuple[PageKind, bytes]:
        """What all links of a batch have in common; cached, because many pages share it."""
        key = (batch.callback, batch.errback, batch.kind, depth)
        if batch.cb_kwargs or key not in self._templates:
            request = link_request(batch, response.url, depth)
            template = kind_of(request), self._packer.pack(request)
            if batch.cb_kwargs:
                return template
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            self._templates[key] = template
        return self._templates[key]

    def _identity(self, url: str) -> tuple[int, str]:
        if self._fingerprint.is_default:
            return identity(url)
        return self._fingerprint(Request(url)), host_key(url)

    def is_unfiltered(self, request: Request) -> bool:
        """Whether it is queued no matter how often it has been queued before."""
        return request.dont_filter or not self._fingerprint.is_filtering

    def is_plain(self, request: Request) -> bool:
        """Whether its URL alone identifies it."""
        is_get = request.method == "GET" and not request.body
        return is_get and self._fingerprint.is_by_url and "verbatim_url" not in request.meta

    def fingerprint(self, request: Request) -> int:
        """The fingerprint that it is known by, unless it is unfiltered."""
        return self._fingerprint(request)

    def errback_position(self, source: object) -> Position:
        """The position of an item that an errback made from a failed download."""
        request = getattr(source, "request", None)
        if not isinstance(request, Request) or not (fate := self._fates.get(request)):
            return Position(0, random.getrandbits(63))
        fate.errback_items += 1
        return Position(fate.claim.request.fingerprint, fate.errback_items - 1)


_KINDS = {"nav": PageKind.NAV, "data": PageKind.DATA}


def kind_of(request: Request) -> PageKind:
    name = request.meta.get("weft_kind", "data")
    if name not in ("nav", "data"):
        raise PackError(repr(request), "meta['weft_kind']", f"is {name!r}; write 'nav' or 'data'")
    return _KINDS[name]

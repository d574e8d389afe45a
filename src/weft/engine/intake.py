"""What Scrapy and its spiders hand in, as the frontier keeps it: which request is which.

Most requests are identified by method, URL and body, and queued once. Those that are not to be
filtered (`dont_filter`) get an identity of their own: a start request is injected once a job, a
retry is the page that it retries, and any other is told apart by where it was found. So none of
them makes its URL known, and none comes twice when a page has to be worked on again.
"""

import random
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.http import Response

from weft.engine.fingerprint import Fingerprinter, start_fingerprint, unfiltered_fingerprint
from weft.engine.follow import FollowAll
from weft.engine.outcome import Fate
from weft.engine.pack import Packer
from weft.engine.places import Place
from weft.engine.rules import LinkRules
from weft.errors import FingerprintError, PackError
from weft.records import PackedRequest, PageKind
from weft.urls import fingerprint, host_key, identity

#: What a frontier can sort by.
MAX_PRIORITY = 2**62
#: Kinds of links that are remembered in their packed form.
MAX_TEMPLATES = 1000


class Origins(Protocol):
    """What is known about requests in Scrapy's hands, as far as it is needed here: see `Fates`."""

    @property
    def replaced(self) -> MutableMapping[Request, Request]: ...
    def get(self, request: Request) -> Fate | None: ...


class Intake:
    def __init__(self, fingerprinter: Fingerprinter, packer: Packer, fates: Origins) -> None:
        self._fingerprint = fingerprinter
        self._packer = packer
        self._fates = fates
        self._templates: dict[Any, tuple[PageKind, bytes]] = {}
        #: Requests that came from the spider's `start`.
        self.starts: WeakSet[Request] = WeakSet()
        #: Where requests were found that came from a callback.
        self.found_at: WeakKeyDictionary[Request, Place] = WeakKeyDictionary()

    def page_of(self, request: Request) -> int:
        """The fingerprint of the page that a request fetched."""
        if fate := self._fates.get(request):
            return fate.claim.request.fingerprint
        try:
            return self._fingerprint(request)
        except FingerprintError:  # it is no claim: any number that is always the same will do
            return fingerprint(request.url, request.method, request.body)

    def pack(self, request: Request) -> PackedRequest:
        """Raises PackError."""
        if abs(request.priority) > MAX_PRIORITY:
            problem = f"is {request.priority}; it must be within ±{MAX_PRIORITY}"
            raise PackError(repr(request), "priority", problem)
        old = self._fates.replaced.get(request)
        place = self.found_at.get(request) if old is None else Place(self.page_of(old), 0)
        by_url = number = self._fingerprint(request)
        is_forced = False
        if request.dont_filter:
            number, is_forced = self._unfiltered(request, by_url, old, place)
        packed = PackedRequest(
            fingerprint=number,
            url=request.url,
            host=host_key(request.url),
            kind=_kind_of(request),
            priority=request.priority,
            payload=self._packer.pack(request),
            found_on=place.page if place else 0,
            is_forced=is_forced,
            url_fingerprint=by_url if by_url != number else 0,
        )
        if old is not None:  # the next request that is made of it is another one
            del self._fates.replaced[request]
        return packed

    def _unfiltered(
        self, request: Request, by_url: int, old: Request | None, place: Place | None
    ) -> tuple[int, bool]:
        """The fingerprint of a request that is not to be filtered, and whether to force it."""
        if request in self.starts:
            return start_fingerprint(by_url), False
        if old is not None and self._fingerprint(old) == by_url:
            return self.page_of(old), True  # a retry
        if old is not None and self._is_known_by_url(old):
            return by_url, False  # Scrapy unfilters a retry, and what that is redirected to
        # What comes from nowhere is never asked for again: any place will do.
        return unfiltered_fingerprint(by_url, place or Place(0, random.getrandbits(63))), False

    def _is_known_by_url(self, request: Request) -> bool:
        """Whether it was to be filtered, when it was found."""
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
        """Plain links of a page, without making Scrapy requests of them. Raises PackError for all
        of them; `refuse` is told what is wrong with one."""
        found_on = self.page_of(response.request) if response.request else 0
        depth = response.meta.get("depth", 0) + 1
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
        """What all links of a batch have in common; it is the same for many pages."""
        key = (batch.callback, batch.kind, depth)
        if batch.cb_kwargs or key not in self._templates:
            request = Request(
                response.url,
                callback=batch.callback,
                cb_kwargs=dict(batch.cb_kwargs),
                meta={"depth": depth} | ({} if batch.kind == "data" else {"weft_kind": batch.kind}),
            )
            template = _kind_of(request), self._packer.pack(request)
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

    def is_plain(self, request: Request) -> bool:
        """Whether it is known by its URL alone."""
        is_get = request.method == "GET" and not request.body
        return is_get and self._fingerprint.is_by_url and "verbatim_url" not in request.meta

    def fingerprint(self, request: Request) -> int:
        """What it is known by, unless it is not to be filtered."""
        return self._fingerprint(request)

    def errback_place(self, source: object) -> Place:
        """The place of an item that an errback made of a failed download."""
        request = getattr(source, "request", None)
        if not isinstance(request, Request) or not (fate := self._fates.get(request)):
            return Place(0, random.getrandbits(63))
        fate.errback_items += 1
        return Place(fate.claim.request.fingerprint, fate.errback_items - 1)


_KINDS = {"nav": PageKind.NAV, "data": PageKind.DATA}


def _kind_of(request: Request) -> PageKind:
    name = request.meta.get("weft_kind", "data")
    if name not in ("nav", "data"):
        raise PackError(repr(request), "meta['weft_kind']", f"is {name!r}; write 'nav' or 'data'")
    return _KINDS[name]

"""What is remembered of URLs: which are known, which have failed, what became of them."""

from collections.abc import Iterable, Set
from typing import NamedTuple

from weft.frontier import policy
from weft.records import AddStatus, Explanation, Fetch, PackedRequest, PageKind


class SeenUrl(NamedTuple):
    kind: PageKind
    at_ms: int
    found_on: int


class DroppedUrl(NamedTuple):
    rule: str
    at_ms: int
    url: str


class MemoryUrls:
    def __init__(self) -> None:
        self._seen: dict[int, SeenUrl] = {}
        # When a URL that failed is tried again.
        self._bad: dict[int, int] = {}
        self._dropped: dict[int, DroppedUrl] = {}
        self._fetches: dict[int, tuple[str, list[Fetch]]] = {}
        #: How many URLs were ever dropped.
        self.drops = 0

    def meet(self, request: PackedRequest, now_ms: int) -> AddStatus:
        """What is to be done with a request that was found. If it is to be queued, it is known from
        now on."""
        if request.dropped_by:
            return self._drop(request, now_ms)
        fingerprint = request.fingerprint
        if fingerprint in self._seen and not request.is_forced:
            bad_until_ms = self._bad.get(fingerprint)
            if bad_until_ms is None:
                return AddStatus.KNOWN
            if bad_until_ms > now_ms:
                return AddStatus.BAD
        self._bad.pop(fingerprint, None)
        self._seen.setdefault(fingerprint, SeenUrl(request.kind, now_ms, request.found_on))
        return AddStatus.QUEUED

    def _drop(self, request: PackedRequest, now_ms: int) -> AddStatus:
        if request.fingerprint in self._seen:
            return AddStatus.KNOWN
        if request.fingerprint not in self._dropped:
            self.drops += 1
            drop = DroppedUrl(request.dropped_by, now_ms, request.url)
            self._dropped[request.fingerprint] = drop
        return AddStatus.DROPPED

    def learn(self, fingerprints: Iterable[int], now_ms: int) -> None:
        for fingerprint in fingerprints:
            self._seen.setdefault(fingerprint, SeenUrl(policy.LEARNED_KIND, now_ms, 0))

    def note_fetch(self, request: PackedRequest, fetch: Fetch) -> None:
        for fingerprint in policy.names(request):
            _, fetches = self._fetches.setdefault(fingerprint, (request.url, []))
            fetches.append(fetch)
            del fetches[: -policy.MAX_FETCHES]

    def note_bad(self, fingerprint: int, until_ms: int) -> None:
        self._bad[fingerprint] = until_ms

    def tell(self, fingerprint: int) -> Explanation:
        """All that is remembered of a URL; where it is now, others know."""
        seen = self._seen.get(fingerprint)
        drop = self._dropped.get(fingerprint)
        url, fetches = self._fetches.get(fingerprint, ("", []))
        return Explanation(
            fingerprint=fingerprint,
            url=url or (drop.url if drop else ""),
            kind=seen.kind if seen else None,
            seen_at_ms=seen.at_ms if seen else None,
            found_on=seen.found_on if seen else 0,
            dropped_by=drop.rule if drop and not seen else "",
            dropped_at_ms=drop.at_ms if drop and not seen else 0,
            bad_until_ms=self._bad.get(fingerprint, 0),
            fetches=tuple(fetches),
        )

    def url_of(self, fingerprint: int) -> str:
        """The URL of a page that was fetched; empty: none was."""
        return self._fetches[fingerprint][0] if fingerprint in self._fetches else ""

    def forget(self, kind: PageKind, claimed: Set[int]) -> None:
        """Forget pages of this kind and their fetches; what is claimed stays known."""
        gone = [f for f, seen in self._seen.items() if seen.kind is kind and f not in claimed]
        for fingerprint in gone:
            del self._seen[fingerprint]
            self._bad.pop(fingerprint, None)
        for fingerprint, (_, fetches) in [*self._fetches.items()]:
            fetches[:] = [fetch for fetch in fetches if fetch.kind is not kind]
            if not fetches:
                del self._fetches[fingerprint]

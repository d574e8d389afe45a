"""The fingerprint of a Scrapy request.

A project that sets REQUEST_FINGERPRINTER_CLASS decides for itself which requests are the same;
its answer is only shortened. Otherwise method, canonical URL, body and chosen headers count.
"""

import json
from collections.abc import Sequence
from hashlib import blake2b, sha1

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES
from w3lib.url import canonicalize_url

from weft.engine.places import Place
from weft.errors import FingerprintError
from weft.urls import fingerprint

#: A start request is injected once a job, without making its URL known: the spider asked for it
#: unfiltered, as Scrapy does, and links to it count as new.
_START = int.from_bytes(blake2b(b"weft start", digest_size=8).digest(), "big") >> 1


def start_fingerprint(number: int) -> int:
    """The identity of a start request that is not to be filtered otherwise."""
    return number ^ _START


def unfiltered_fingerprint(number: int, place: Place) -> int:
    """The identity of a request that the spider does not want filtered: where it was found counts.

    So it is fetched however often its URL was, and does not make its URL known; but it is not
    fetched again for a page that had to be worked on twice.
    """
    raw = f"{number} {place.page} {place.number}".encode()
    digest = blake2b(raw, digest_size=8, person=b"weft place").digest()
    return int.from_bytes(digest, "big") >> 1


def short_fingerprint(digest: bytes) -> int:
    """The answer of a project's own fingerprinter, as a frontier keeps it."""
    return int.from_bytes(blake2b(digest, digest_size=8).digest(), "big") >> 1


class ScrapyRedisFingerprinter:
    """For REQUEST_FINGERPRINTER_CLASS of a project that brings a dupefilter of scrapy-redis along.

    The dupefilter of scrapy-redis 0.9 has fingerprints of its own: they are not Scrapy's.
    """

    def fingerprint(self, request: Request) -> bytes:
        fields = {
            "method": request.method,
            "url": canonicalize_url(request.url),
            "body": request.body.hex(),
        }
        text = json.dumps(fields, sort_keys=True)
        return sha1(text.encode(), usedforsecurity=False).digest()


class Fingerprinter:
    def __init__(self, crawler: Crawler, headers: Sequence[str]) -> None:
        self._headers = sorted(header.lower() for header in headers)
        priority = crawler.settings.getpriority("REQUEST_FINGERPRINTER_CLASS") or 0
        #: Nothing else than our own rules decides.
        self.is_default = priority <= SETTINGS_PRIORITIES["default"]
        #: Plain GETs are told apart by their URLs.
        self.is_by_url = self.is_default and not self._headers
        self._crawler = crawler

    def __call__(self, request: Request) -> int:
        """Raises FingerprintError if that of the project fails."""
        if self.is_default:
            return fingerprint(request.url, request.method, request.body, self._extra(request))
        try:
            return short_fingerprint(self._crawler.request_fingerprinter.fingerprint(request))
        except Exception as problem:
            raise FingerprintError(repr(request), problem) from problem

    def _extra(self, request: Request) -> bytes:
        parts = [
            name.encode() + b":" + value
            for name in self._headers
            for value in request.headers.getlist(name)
        ]
        if request.meta.get("verbatim_url"):
            parts.append(request.url.encode())
        return b"\n".join(parts)

"""Packs requests exactly as a crawl of their spider would, without a crawl."""

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from weft.engine.claims.outcome import Fate
from weft.engine.requests.fingerprint import Fingerprinter
from weft.engine.requests.intake import Intake
from weft.engine.requests.pack import Packer
from weft.engine.requests.positions import Position
from weft.engine.settings import read_settings
from weft.engine.target import Target
from weft.errors import ConfigError, TargetError, WeftError
from weft.records import PackedRequest
from weft.scrapyredis.entries import read_entry


class Packing:
    """Creates the spider as Scrapy does, but no engine."""

    def __init__(self, target: Target, overrides: Mapping[str, Any]) -> None:
        self._crawler = Crawler(target.spider, target.settings_with(overrides))
        self._spider = _make_spider(self._crawler, target)
        self.settings = self._crawler.settings
        self.config = read_settings(self.settings, self._spider.name)
        fingerprinter = Fingerprinter(self._crawler, self.config.fingerprint_headers)
        #: The project decides which requests are the same.
        self.has_own_fingerprints = not fingerprinter.is_default
        self._intake = Intake(fingerprinter, Packer(self._spider), _NoOrigins())
        # How often each unfiltered entry has come.
        self._copies: Counter[int] = Counter()

    @property
    def spider_name(self) -> str:
        return self._spider.name

    def pack(self, raw: bytes) -> PackedRequest:
        """Raises EntryError or PackError."""
        request = read_entry(raw, self._spider)
        if self._intake.is_unfiltered(request):
            self._intake.found_at[request] = Position(0, self._number(raw))
        return self._intake.pack(request)

    def _number(self, raw: bytes) -> int:
        """The same number each time an entry is imported, but a different one for each copy."""
        number = int.from_bytes(blake2b(raw, digest_size=8).digest(), "big")
        self._copies[number] += 1
        return number + self._copies[number]

    def digest(self, raw: bytes) -> bytes | None:
        """The fingerprint of an entry by the project's own fingerprinter; None if it is unfiltered.

        Raises EntryError."""
        request = read_entry(raw, self._spider)
        if request.dont_filter:
            return None
        return self._crawler.request_fingerprinter.fingerprint(request)


class _NoOrigins:
    """Requests that no crawl has had in its hands yet."""

    def __init__(self) -> None:
        self.replaced: WeakKeyDictionary[Request, Request] = WeakKeyDictionary()

    def get(self, request: Request) -> Fate | None:
        return None


def _make_spider(crawler: Crawler, target: Target) -> Spider:
    """Create the spider in the same order as `Crawler.crawl`."""
    try:
        crawler.spider = target.spider.from_crawler(crawler, **target.arguments)
        crawler.addons.load_settings(crawler.settings)
        cls = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
        crawler.request_fingerprinter = build_from_crawler(cls, crawler)
    except WeftError:
        raise
    except Exception as problem:  # it is the user's code
        raise TargetError(
            f"the spider {target.spider.name} cannot be made: {type(problem).__name__}: {problem}; "
            "give it the arguments that it needs with -a"
        ) from problem
    if not crawler.settings.getbool("WEFT_ENABLED"):
        raise ConfigError("the project sets WEFT_ENABLED to False; remove that, then import")
    return crawler.spider

"""Which of a project's filters are used, and which are refused."""

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.settings import Settings
from scrapy.utils.request import RequestFingerprinter

from weft.engine.requests.dupefilter import find_dupefilter
from weft.engine.requests.fingerprint import Fingerprinter
from weft.engine.settings import read_settings
from weft.errors import ConfigError
from weft.urls import fingerprint

URL, SAME, OTHER = (Request(f"http://h/{path}") for path in ("a?1", "a?2", "b"))


class Nothing(BaseDupeFilter):
    """Filters nothing, and says so."""

    def log(self, request: Request, spider: Spider) -> None:
        raise NotImplementedError


class ByPath(RFPDupeFilter):
    def request_fingerprint(self, request: Request) -> str:
        return request.url.partition("?")[0]


class PathPrinter(RequestFingerprinter):
    def fingerprint(self, request: Request) -> bytes:
        return request.url.partition("?")[0].encode()


class WithPrinter(RFPDupeFilter):
    def __init__(self, *args: Any, fingerprinter: Any = None) -> None:
        super().__init__(*args, fingerprinter=PathPrinter())


class Plain(RFPDupeFilter):
    """Changes nothing."""


class Remembering(RFPDupeFilter):
    def request_seen(self, request: Request) -> bool:
        return True


class Opening(RFPDupeFilter):
    def open(self) -> None:
        """Reads what was seen."""


class Logging(RFPDupeFilter):
    def log(self, request: Request, spider: Spider) -> None:
        """Counts."""


class Odd:
    """Not made of Scrapy's."""

    def request_seen(self, request: Request) -> bool:
        return False


class Shared(BaseDupeFilter):
    __module__ = "scrapy_redis.dupefilter"

    def request_seen(self, request: Request) -> bool:
        return False


class SharedByPath(Shared):
    """As projects derive them."""


def made(filter_class: Any, **settings: Any) -> Fingerprinter:
    crawler = Crawler(Spider, settings | {"DUPEFILTER_CLASS": filter_class})
    crawler.settings.freeze()
    crawler.request_fingerprinter = RequestFingerprinter(crawler)
    return Fingerprinter(crawler, ())


@pytest.mark.parametrize("found", [BaseDupeFilter, Nothing])
def test_a_filter_that_filters_nothing_is_used(found: type) -> None:
    mine = made(found)
    assert not mine.is_filtering
    assert mine(URL) == fingerprint(URL.url)


@pytest.mark.filterwarnings("ignore:Overriding RFPDupeFilter.request_fingerprint")
@pytest.mark.parametrize("found", [ByPath, WithPrinter])
def test_the_fingerprints_of_a_filter_are_used(found: type, tmp_path: Path) -> None:
    mine = made(found, JOBDIR=str(tmp_path))
    assert mine.is_filtering
    assert not mine.is_default
    assert mine(URL) == mine(SAME) != mine(OTHER)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("found", [RFPDupeFilter, Plain])
def test_a_filter_like_scrapys_changes_nothing(found: type) -> None:
    mine = made(found)
    assert mine.is_filtering
    assert mine.is_by_url
    assert mine(URL) == fingerprint(URL.url)


@pytest.mark.parametrize(
    ("found", "methods"),
    [
        (Remembering, "request_seen"),
        (Opening, "open"),
        (Logging, "log"),
        (Odd, "request_seen, open, close, log"),
    ],
)
def test_a_filter_with_a_memory_is_refused_with_the_cure(found: type, methods: str) -> None:
    settings = Settings({"DUPEFILTER_CLASS": found})
    with pytest.raises(ConfigError) as raised:
        read_settings(settings, "any")
    told = str(raised.value)
    assert f"DUPEFILTER_CLASS is test_dupefilter.{found.__name__}, with its own {methods};" in told
    assert "REQUEST_FINGERPRINTER_CLASS" in told
    assert "scrapy.dupefilters.BaseDupeFilter" in told


@pytest.mark.parametrize("found", [Shared, SharedByPath])
def test_the_filter_of_scrapy_redis_is_refused_with_the_cure(found: type) -> None:
    with pytest.raises(ConfigError, match="of scrapy-redis; remove it"):
        find_dupefilter(Settings({"DUPEFILTER_CLASS": found}))


def test_a_filter_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"DUPEFILTER_CLASS is 'no\.such'; it cannot be loaded"):
        find_dupefilter(Settings({"DUPEFILTER_CLASS": "no.such"}))

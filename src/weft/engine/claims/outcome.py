"""What became of a request in Scrapy's hands: collected in pieces, then reported as an outcome."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

from scrapy.exceptions import CannotResolveHostError, IgnoreRequest

from weft.records import Claim, Ending, Outcome

#: The kind of failure for exceptions from spider code.
SPIDER_ERROR = "spider error"
PAGE_OF_NO_USE = "page of no use"

# Why a request was replaced, by the first digit of the status.
_REPLACED = {3: "redirected"}


@dataclass(slots=True)
class Given:
    """How much a callback has yielded so far."""

    items: int = 0
    requests: int = 0


@dataclass(slots=True)
class Fate:
    """What is known so far about a claim that Scrapy has in its hands."""

    claim: Claim
    #: Status of the last response from the network (or the cache); 0: none.
    status: int = 0
    #: When that response came; 0: none did.
    fetched_at_ms: int = 0
    retry_after_ms: int = 0
    crawl_delay_ms: int = 0
    #: What went wrong on the network, whether it is retried or not.
    fetch_error: str = ""
    #: A response left the downloader for the spider.
    is_answered: bool = False
    #: The spider's callback was called with it.
    is_handled: bool = False
    #: Why the downloader gave up.
    error: Exception | None = None
    #: What the spider's callback raised.
    spider_error: str = ""
    #: Why it was not parsed.
    refusal: str = ""
    #: What is wrong with the page, though it was handed to the spider.
    page_problem: str = ""
    #: No longer counted as under way.
    is_downloaded: bool = False
    given: Given = field(default_factory=Given)
    #: Items that are on their way to the sinks, from callback and errback.
    items: int = 0
    #: Items that came from its errback.
    errback_items: int = 0
    #: It has passed the gate.
    is_sent: bool = False
    #: Let go of, because its claim may no longer be ours.
    is_abandoned: bool = False
    #: Kept requests that are part of this claim and not done.
    kept: int = 0
    #: It is a kept request: its claim is known to nobody else.
    is_kept: bool = False
    #: The claim that a kept request is part of, if there is one.
    part_of: "Fate | None" = None
    #: Adds to the outcome what is known only once the links of the page have been added.
    complete: Callable[[Outcome], Outcome] | None = None

    @property
    def is_retry_of_claim(self) -> bool:
        """It is kept, and fetches the page of its claim once more."""
        root = self.part_of
        return root is not None and self.claim.request.fingerprint == root.claim.request.fingerprint

    def take_over(self, retry: "Fate") -> None:
        """What became of the retry is what became of the page."""
        self.status = retry.status
        self.fetched_at_ms = retry.fetched_at_ms
        self.retry_after_ms = retry.retry_after_ms
        self.fetch_error = retry.fetch_error
        self.is_answered = retry.is_answered
        self.is_handled = retry.is_handled
        self.error = retry.error
        self.spider_error = retry.spider_error
        self.refusal = retry.refusal

    @property
    def real_claim(self) -> Claim | None:
        """The claim in the frontier, which decides whether it may be sent."""
        if self.is_kept:
            return self.part_of.claim if self.part_of else None
        return self.claim

    def outcome(self) -> Outcome:
        ending, note = self._ending()
        return Outcome(
            token=self.claim.token,
            ending=ending,
            status=self.status,
            note=note,
            retry_after_ms=self.retry_after_ms,
            crawl_delay_ms=self.crawl_delay_ms,
            is_host_bad=isinstance(self.error, CannotResolveHostError),
            items=self.items,
            is_sent=self.is_sent,
        )

    def _ending(self) -> tuple[Ending, str]:
        if isinstance(self.error, IgnoreRequest):
            return Ending.DROPPED, str(self.error) or "ignored by a downloader middleware"
        if self.error is not None:
            return Ending.FAILED, describe(self.error)
        if self.spider_error:
            return Ending.FAILED, self.spider_error
        if self.refusal:
            return Ending.DROPPED, self.refusal
        if self.page_problem:
            return Ending.FAILED, self.page_problem
        if not self.is_answered:
            return Ending.REPLACED, self.fetch_error or _REPLACED.get(self.status // 100, "retried")
        if self.status >= 300 and not self.is_handled:
            return Ending.FAILED, self.fetch_error or f"status {self.status}"
        return Ending.DONE, ""

    @property
    def failure(self) -> str:
        """The kind of failure, for counting."""
        if self.error is not None:
            return type(self.error).__name__
        if self.spider_error:
            return SPIDER_ERROR
        has_page = self.page_problem and self.status < 300
        return PAGE_OF_NO_USE if has_page else f"status {self.status}"

    @property
    def is_page(self) -> bool:
        """A page that was fetched and handed to the spider."""
        return self.is_answered and self.is_handled and not self.error and not self.refusal


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip(": ")


def retry_after_ms(value: bytes | None, now: datetime) -> int:
    """A Retry-After header, which is seconds or a date, as milliseconds from now; 0 if it is
    invalid."""
    text = (value or b"").decode("ascii", errors="replace").strip()
    if text.isdecimal():
        return int(text[:12]) * 1000
    try:
        at = parsedate_to_datetime(text)
        return max(0, round((at - now).total_seconds() * 1000))
    except (OverflowError, TypeError, ValueError):
        return 0

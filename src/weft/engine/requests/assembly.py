"""Puts together the parts that requests pass on their way to the frontier and to Scrapy."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scrapy import Spider
from scrapy.crawler import Crawler

from weft.clock import Clock
from weft.engine.claims.assembly import ClaimParts
from weft.engine.claims.fates import Fates
from weft.engine.claims.outcome import Fate
from weft.engine.claims.ready import Ready
from weft.engine.claims.results import Results
from weft.engine.requests.adder import RequestAdder
from weft.engine.requests.fingerprint import Fingerprinter
from weft.engine.requests.intake import Intake
from weft.engine.requests.kept import KeptRequests, KeptStarts
from weft.engine.requests.pack import Packer
from weft.engine.requests.revisits import Revisits
from weft.engine.requests.rules import read_rules
from weft.engine.requests.source import RequestSource
from weft.engine.scrapy.counts import Counts
from weft.engine.settings import JobConfig
from weft.records import AddStatus, PackedRequest


class RequestParts(NamedTuple):
    intake: Intake
    adder: RequestAdder
    source: RequestSource
    kept: KeptRequests
    kept_starts: KeptStarts
    revisits: Revisits


def make_request_parts(
    crawler: Crawler,
    spider: Spider,
    config: JobConfig,
    claims: ClaimParts,
    fates: Fates,
    results: Results,
    *,
    end_claim: Callable[[Fate], None],
    concurrency_of: Callable[[str], int],
    counts: Counts,
    clock: Clock,
) -> RequestParts:
    """`end_claim` is called when nothing is left of a claim that kept requests were part of.
    `concurrency_of`: how many requests a host may have at a time."""
    packer = Packer(spider)
    intake = Intake(Fingerprinter(crawler, config.fingerprint_headers), packer, fates)
    starts = KeptStarts()
    kept = KeptRequests(
        Ready(concurrency_of),
        put_link=claims.buffer.put_link,
        may_send=claims.supply.may_send,
        end_claim=end_claim,
        counts=counts,
    )
    source = RequestSource(
        *(claims.supply, claims.hand, claims.returns, kept, starts, packer, fates, results),
        max_pages=config.max_pages,
        spider=spider,
        counts=counts,
    )
    adder = RequestAdder(
        intake,
        read_rules(crawler.settings, spider),
        *(fates, claims.buffer, claims.hand, results, kept, starts),
        bad_url_ms=config.frontier.bad_url_ms,
        spider=spider,
        counts=counts,
        clock=clock,
    )
    claims.restarts.after_restart = adder.add_again
    revisits = Revisits(fates, packer)

    def note_added(links: Sequence[PackedRequest], statuses: Sequence[AddStatus]) -> None:
        kept.note_added(links, statuses)
        revisits.note_added(links, statuses)

    claims.storing.after_add = note_added
    claims.finisher.after_finish = kept.note_finished
    claims.settling.is_busy = lambda: kept.left > 0
    return RequestParts(intake, adder, source, kept, starts, revisits)

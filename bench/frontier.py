"""`make bench-frontier`: Weft's frontier compared with scrapy-redis, on the same Redis.

Prints bytes per URL and requests per second of CPU as Markdown, and exits with 1 if Weft misses one
of its limits.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from rich.console import Console

from bench.memory import measure_parked, measure_sizes, measure_stories
from bench.on_scrapy_redis import OnScrapyRedis
from bench.on_weft import OnWeft, Way
from bench.rates import KNOWN_SHARE, Rate, Rates, measure_rates
from bench.report import Row, header, print_rows
from bench.waiting import QUICK as QUICK_WAITING
from bench.waiting import SPEED, WaitingScale, measure_waiting
from bench.workload import LINKS_PER_PAGE, URL_LENGTH, Page, Web
from launchers.redis import RedisServer

DEFAULT_URLS = 2_000_000
QUICK_URLS = 24_000
#: What issue 3 requires of Weft.
MOST_SEEN, MOST_QUEUED, MOST_PARKED = 10, 130, 25
LEAST_RATIO = 5

BLOOM_ERROR = 0.001

REQUESTS = Way("Weft")
LINKS = Way("Weft, links", has_links=True)
ROUND = Way("Weft, ten pages a round", has_recent=True, claims=10)

Tell = Callable[[str], None]


class Scale(NamedTuple):
    """How much is measured."""

    urls: int = DEFAULT_URLS
    #: scrapy-redis takes one URL at a time, and each needs the same memory.
    scrapy_redis_urls: int = DEFAULT_URLS // 4
    usual_requests: int = 100_000
    hosts: int = 300
    parked_hosts: int = 100
    #: Blocks of 1,000 per host.
    parked_blocks: int = 5
    stories: int = 200_000
    rounds: int = 15
    pages_a_round: int = 100
    waiting: WaitingScale = WaitingScale()


QUICK = Scale(
    urls=QUICK_URLS,
    scrapy_redis_urls=QUICK_URLS // 4,
    usual_requests=4_000,
    parked_hosts=20,
    parked_blocks=1,
    stories=16_000,
    rounds=5,
    pages_a_round=30,
    waiting=QUICK_WAITING,
)


def measure_bytes(server: RedisServer, scale: Scale, tell: Tell) -> list[Row]:
    links = partial(OnWeft, server.url, LINKS)
    bloom = partial(
        links, WEFT_SEEN="bloom", WEFT_EXPECTED_URLS=scale.urls, WEFT_BLOOM_ERROR=BLOOM_ERROR
    )
    theirs = partial(OnScrapyRedis, server.url)

    def pages(urls: int) -> Iterator[Page]:
        return Web(scale.hosts).pages_for(urls)

    tell(f"memory: Weft, {scale.urls:,} URLs")
    exact = measure_sizes(server, links, pages(scale.urls))
    tell(f"memory: Weft with Bloom filters, {scale.urls:,} URLs")
    filtered = measure_sizes(server, bloom, pages(scale.urls), lost_share=0.01)
    tell(f"memory: scrapy-redis, {scale.scrapy_redis_urls:,} URLs")
    other = measure_sizes(server, partial(theirs, is_plain=True), pages(scale.scrapy_redis_urls))
    tell(f"memory: usual Scrapy requests, {scale.usual_requests:,} of each")
    usual = measure_sizes(
        server, partial(OnWeft, server.url, REQUESTS), pages(scale.usual_requests)
    )
    other_usual = measure_sizes(server, theirs, pages(scale.usual_requests))
    tell("memory: parked requests")
    parked = _measure_parked(server, scale)
    tell(f"memory: {scale.stories:,} fetched URLs")
    stories = measure_stories(server, links, pages(scale.stories))
    # With few URLs the keys themselves take more.
    most_seen = MOST_SEEN if scale.urls >= DEFAULT_URLS else None
    return [
        Row(f"seen URL, exact, {scale.urls:,} URLs", exact.seen, other.seen, most=most_seen),
        Row(f"seen URL, Bloom filter, p = {BLOOM_ERROR:g}", filtered.seen, other.seen),
        Row("queued request, a plain link", exact.queued, other.queued, most=MOST_QUEUED),
        Row("queued request, with callback and Referer", usual.queued, other_usual.queued),
        Row("parked request, a plain link", parked, other.queued, most=MOST_PARKED),
        Row("fetched URL, remembered for `weft explain`", stories, None),
    ]


def _measure_parked(server: RedisServer, scale: Scale) -> float:
    # Each host keeps one request in its queue, and fills whole blocks with the others.
    pages = Web(scale.parked_hosts).pages_of_each(1 + 1_000 * scale.parked_blocks)
    make = partial(OnWeft, server.url, LINKS, WEFT_BUCKET_LIMIT=1)
    return measure_parked(server, make, pages, scale.parked_hosts)


def measure_cpu(server: RedisServer, scale: Scale, tell: Tell) -> dict[str, Rates]:
    with ExitStack() as stack:
        other = stack.enter_context(OnScrapyRedis(server.url))
        ours = [stack.enter_context(OnWeft(server.url, way)) for way in (REQUESTS, LINKS, ROUND)]
        return measure_rates(
            server,
            [other, *ours],
            hosts=scale.hosts,
            rounds=scale.rounds,
            pages=scale.pages_a_round,
            tell=tell,
        )


def rate_rows(rates: dict[str, Rates]) -> list[Row]:
    return [
        *_rate_rows(REQUESTS, rates, "add", "claim and finish", least_ratio=LEAST_RATIO),
        *_rate_rows(LINKS, rates, "add", "claim and finish"),
        *_rate_rows(ROUND, rates, "add", "claim and finish"),
    ]


def page_rows(rates: dict[str, Rates]) -> list[Row]:
    return [row for way in (REQUESTS, LINKS, ROUND) for row in _rate_rows(way, rates, "page")]


def _rate_rows(
    way: Way, rates: dict[str, Rates], *verbs: str, least_ratio: float | None = None
) -> list[Row]:
    ours, theirs = rates[way.name], rates[OnScrapyRedis.name]
    chosen: dict[str, Callable[[Rates], Rate]] = {
        "add": lambda rates: rates.add,
        "claim and finish": lambda rates: rates.take,
        "page": lambda rates: rates.page,
    }
    return [
        Row(f"{way.name}: {verb}, {who} CPU", own, other, is_rate=True, least_ratio=least_ratio)
        for verb in verbs
        for who, own, other in zip(
            ("client", "Redis"), chosen[verb](ours), chosen[verb](theirs), strict=True
        )
    ]


def notes(scale: Scale, *, has_aof: bool) -> list[str]:
    return [
        f"URLs of {URL_LENGTH} characters on {scale.hosts} hosts, pages of {LINKS_PER_PAGE} links; "
        f"bytes of `used_memory`; scrapy-redis with {scale.scrapy_redis_urls:,} URLs, default "
        "settings, appendonly off",
        f"rates: medians of {scale.rounds} rounds in turn, {KNOWN_SHARE:.0%} of the links known, "
        f"appendonly {'on' if has_aof else 'off'}; the same Scrapy requests in and out; "
        "scrapy-redis one by one as Scrapy calls it, and it has no finish: pop only",
        f"Weft: adds {REQUESTS.pages} pages at a time, claims and finishes {REQUESTS.claims}; "
        "everything goes to Redis",
        "Weft, links: the spider hands over links instead of requests, as `weft crawl URL` does",
        f"Weft, ten pages a round: claims and finishes {ROUND.claims} at a time, and drops links "
        "that this process has passed on lately, as the engine does",
        f"a page: its {LINKS_PER_PAGE} links added, its own request claimed and finished",
        f"pages that wait: {scale.waiting.pages:,} lists of {scale.waiting.hosts:,} boards, due "
        f"within {scale.waiting.within_ms // 60_000} min; how late they come by a clock that goes "
        f"{SPEED} times as fast",
    ]


def main() -> int:
    options = _parser().parse_args()
    console = Console(stderr=True)
    if find_spec("scrapy_redis") is None:
        console.print("scrapy-redis is missing: make bench-frontier installs it")
        return 2
    scale = QUICK if options.quick else Scale()
    if options.urls:
        scale = scale._replace(urls=options.urls, scrapy_redis_urls=max(1, options.urls // 4))
    rows = _measure(scale, options.aof, console)
    missed = [row for row in rows if not row.is_kept]
    for row in missed:
        console.print(f"[red]MISSED[/red] {row.what}")
    return 1 if missed else 0


def _measure(scale: Scale, has_aof: bool, console: Console) -> list[Row]:
    with console.status("") as status, RedisServer(appendonly=False) as server:
        told = header(server, notes(scale, has_aof=has_aof), "scrapy-redis")
        sizes = measure_bytes(server, scale, status.update)
    with console.status("") as status, RedisServer(appendonly=has_aof) as server:
        rates = measure_cpu(server, scale, lambda text: status.update(f"rates: {text}"))
    with console.status("") as status, RedisServer(appendonly=has_aof) as server:
        waiting = measure_waiting(
            server, scale.waiting, lambda text: status.update(f"pages that wait: {text}")
        )
    out = Console(width=120, highlight=False)
    out.print(told, soft_wrap=True)
    print_rows(out, "bytes", sizes)
    print_rows(out, "requests a second of CPU", rate_rows(rates))
    print_rows(out, "pages a second of CPU", page_rows(rates))
    print_rows(out, "pages that wait until they are due", waiting)
    return [*sizes, *rate_rows(rates), *waiting]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.frontier", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, about a minute")
    parser.add_argument("--urls", type=int, help=f"URLs in memory (default {DEFAULT_URLS:,})")
    parser.add_argument("--aof", action="store_true", help="measure rates with appendonly on")
    return parser


if __name__ == "__main__":
    sys.exit(main())

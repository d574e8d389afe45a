"""A whole world for nodes: networks, a store, web sites; and what must hold in it afterwards."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cluster import JOB, Cluster, Order
from invariants import check_concurrency, check_delays, check_owners, check_progress, check_sink
from launchers.redis import RedisServer
from network import new_network
from servers import all_keys
from slowlink import SlowLink
from watch import LeaseWatch
from weft.frontier.redis import RedisFrontier
from weft.records import Stats
from weft.redis.keys import is_ours
from weft.sinks import SinkConfig, make_sink
from weft.testing import Hit, Site, SiteServer
from weft.testing.waiting import wait_until

Answer = TypeVar("Answer")

CONCURRENCY = 3
#: Of hosts without a delay: so long a request is under way.
LATENCY_S = 0.15
BUCKETS = 32
#: A request can be held up so long between its worker and the log of the site, where many processes
#: share few cores.
HELD_UP_S = 0.5
#: Nothing may stand still for so long when all is well again.
STILL_S = 10.0


@dataclass(frozen=True)
class Pages:
    """What there is to crawl: hosts that want a delay between requests, and hosts that do not."""

    hosts: int
    pages: int
    delay_s: float = 0.0


@dataclass
class World:
    store: RedisServer
    link: SlowLink | None
    sites: list[SiteServer]
    cluster: Cluster
    watch: LeaseWatch
    order: Order
    output: Path

    def hits(self) -> list[Hit]:
        return [hit for site in self.sites for hit in site.hits()]

    def stats(self) -> Stats:
        return asyncio.run(_read(self.store.url, lambda frontier: frontier.stats()))

    @property
    def is_over(self) -> bool:
        """The crawl has ended by itself. The store must be up."""
        return asyncio.run(_read(self.store.url, lambda frontier: frontier.is_finished()))

    def check(self, timeout_s: float) -> str:
        """The trouble is over: the crawl goes on and ends by itself, and the invariants hold. What
        it was like."""
        well_at_s = time.monotonic()
        wait_until(lambda: self.is_over, description="the job is finished", timeout_s=timeout_s)
        over_at_s = time.monotonic()
        self.cluster.leave()
        self.watch.stop()
        hits, stats = self.hits(), self.stats()
        wanted: set[str] = set().union(*(site.page_urls() for site in self.sites))
        asyncio.run(_take_up_parts(self.output))
        check_sink(self.output, wanted)
        since = [hit for hit in hits if hit.at_s >= well_at_s]
        check_progress(since, from_s=well_at_s, over_at_s=over_at_s, limit_s=STILL_S)
        # Each was finished once: no outcome was accepted that came too late.
        assert (stats.done, stats.failed, stats.pending) == (len(wanted), 0, 0), stats
        check_owners(hits, self.watch, self.cluster.names, BUCKETS)
        check_delays(hits, self.order.delays_s, tolerance_s=HELD_UP_S)
        quick = {hit.host for hit in hits} - self.order.delays_s.keys()
        check_concurrency(hits, quick, CONCURRENCY, LATENCY_S)
        strangers = [key for key in all_keys(self.store) if not is_ours(key)]
        assert not strangers, strangers
        again = stats.released + stats.reclaimed
        return (
            f"{len(wanted)} pages by {len(self.cluster.nodes)} nodes with {len(hits)} requests; "
            f"{sum(map(len, self.watch.tenures.values()))} leases of {BUCKETS} buckets in "
            f"{self.watch.looks} looks; {again} claims came back, {stats.stale} outcomes came late"
        )


async def _read(url: str, question: Callable[[RedisFrontier], Awaitable[Answer]]) -> Answer:
    async with RedisFrontier(url, JOB, is_read_only=True) as frontier:
        return await question(frontier)


async def _take_up_parts(output: Path) -> None:
    """As the next worker would: the items of one that was killed last of all are in its part."""
    sink = make_sink(str(output), SinkConfig(output.parent / ".weft" / JOB, is_shared=True))
    await sink.open()
    await sink.close()


def _open_store(
    address: str, stack: ExitStack, *, has_link: bool
) -> tuple[RedisServer, SlowLink | None]:
    if has_link:
        store = stack.enter_context(RedisServer())
        return store, stack.enter_context(SlowLink(address, store.port))
    extra = ["--bind", "127.0.0.1", address, "--protected-mode", "no"]
    return stack.enter_context(RedisServer(extra=extra)), None


@contextmanager
def new_world(
    directory: Path, what: Sequence[Pages], *, lease_s: float, has_link: bool = False
) -> Iterator[World]:
    """There are no nodes yet. The test is skipped where there can be none.

    `has_link`: the way to the store can be made slow, which has its price.
    """
    with new_network() as network, ExitStack() as stack:
        store, link = _open_store(network.store_address, stack, has_link=has_link)
        hosts = iter(network.add_hosts(sum(each.hosts for each in what)))
        sites = []
        delays_s: dict[str, float] = {}
        for each in what:
            own = tuple(next(hosts) for _ in range(each.hosts))
            delays_s |= {host: each.delay_s for host in own if each.delay_s}
            latency_s = 0.0 if each.delay_s else LATENCY_S
            site = Site(hosts=own, pages=each.pages, links=5, latency_s=latency_s)
            sites.append(stack.enter_context(SiteServer(site)))
        order = Order(
            urls=[site.url_of(host) for site in sites for host in site.site.hosts],
            store=f"redis://{network.store_address}:{link.port if link else store.port}/0",
            delays_s=delays_s,
            concurrency=CONCURRENCY,
            buckets=BUCKETS,
            lease_s=lease_s,
        )
        cluster = Cluster(network, order, directory)
        stack.callback(cluster.end)
        cluster.start_job()
        watch = stack.enter_context(LeaseWatch(store.port, JOB, BUCKETS, lease_s))
        yield World(store, link, sites, cluster, watch, order, directory / "out.jsonl")

"""Moves a crawl from scrapy-redis to Weft."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import msgspec

from weft.errors import ConfigError
from weft.frontier import JobHome, Store, open_frontier, parse_store
from weft.scrapyredis.result import TransferResult
from weft.services.crawls import plan_crawl


class ImportPlan(msgspec.Struct, frozen=True):
    """What to import, and from where."""

    #: The spider that the requests belong to.
    target: str
    arguments: Mapping[str, str]
    overrides: Mapping[str, Any]
    #: The Redis of scrapy-redis.
    source: str
    #: None: from the project's settings, or else scrapy-redis' default.
    queue_key: str | None = None
    dupefilter_key: str | None = None
    is_lifo: bool = False
    #: Leave out the dupefilter.
    is_queue_only: bool = False
    #: Import the dupefilter even if entries of the queue cannot be read.
    is_giving_up: bool = False
    #: Read everything, and write nothing.
    is_dry: bool = False


class Import(msgspec.Struct, frozen=True):
    home: JobHome
    result: TransferResult


async def import_scrapy_redis(
    plan: ImportPlan, watch: Callable[[TransferResult], None] = lambda result: None
) -> Import:
    """`watch` is called now and then. Nothing is removed from the source, so it can be repeated."""
    # Imported here because it loads Scrapy.
    from weft.engine.politeness.hostkeys import make_keys
    from weft.engine.settings import check_host_key
    from weft.scrapyredis.packing import Packing
    from weft.scrapyredis.source import Source, find_keys
    from weft.scrapyredis.transfer import Transfer

    if "://" in plan.target:
        raise ConfigError(
            f"{plan.target} is not a spider; name the spider that the requests belong to"
        )
    crawl = plan_crawl([plan.target], plan.arguments, plan.overrides)
    home = crawl.home
    here = {"WEFT_STORE": home.store.url, "WEFT_JOB": home.job}
    packing = Packing(crawl.target, {**plan.overrides, **here})
    config = packing.config
    keys = find_keys(
        packing.settings,
        packing.spider_name,
        plan.queue_key,
        plan.dupefilter_key,
        is_lifo=plan.is_lifo,
    )
    transfer = Transfer(
        packing, is_queue_only=plan.is_queue_only, is_giving_up=plan.is_giving_up, watch=watch
    )
    async with Source(_address(plan.source), keys) as source:
        await transfer.check(source)
        if plan.is_dry:
            return Import(home, await transfer.run(source, None))
        async with open_frontier(config.store, config.job, config.frontier) as frontier:
            await frontier.begin(is_fresh=False, is_rerun=False)
            check_host_key(frontier, config)
            with closing(make_keys(frontier)) as host_keys:
                return Import(home, await transfer.run(source, frontier, host_keys))


def _address(source: str) -> Store:
    store = parse_store(source)
    if not store.is_shared:
        raise ConfigError(
            f"--from {source}: not the address of a Redis; write redis://HOST:PORT/DB"
        )
    return store

"""Inspecting the frontier of a job, and clearing it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from weft.boards.past import forget_past
from weft.config import DEFAULT_JOBS_DIR
from weft.errors import ConfigError, StoreMissingError
from weft.frontier import FrontierBackend, JobHome, LeasesBuckets, find_home, parse_store
from weft.records import Explanation, HostKey, HostState, Hour, PageKind, SeenReport, Stats
from weft.services.stores import FRONTIER_NAME, SERVER_NAME, ask, only_job
from weft.urls import fingerprint, host_key


class Look(msgspec.Struct, frozen=True):
    """What a frontier reports about itself at one moment."""

    stats: Stats
    #: All hosts that have requests queued, parked or claimed.
    hosts: Sequence[HostState] = ()
    is_finished: bool = False
    #: None: the frontier does not report it.
    seen: SeenReport | None = None
    #: How soon the first page that waits is due; None: none waits.
    next_due_in_ms: int | None = None


class Past(msgspec.Struct, frozen=True):
    """What earlier runs of a job have left."""

    stats: Stats
    #: Its crawl has ended by itself.
    is_finished: bool = False
    #: The project that it belongs to; empty: none, or it is not known.
    project: str = ""


async def choose_home(job: str | None, store: str | None) -> JobHome:
    """The home of the given job; without a name, of the only one."""
    if not store:
        return find_home(job or _only_embedded())
    place = parse_store(store)
    if place.is_shared:
        return find_home(job or await only_job(place), store=store)
    if job:
        raise ConfigError("a rocks store holds a single job; omit --job or --store")
    return find_home("", store=store)


def _only_embedded() -> str:
    kinds = (FRONTIER_NAME, SERVER_NAME)
    jobs = sorted({path.parent for kind in kinds for path in DEFAULT_JOBS_DIR.glob(f"*/{kind}")})
    if len(jobs) == 1:
        return jobs[0].name
    if not jobs:
        raise StoreMissingError(
            f"there is no job in {DEFAULT_JOBS_DIR.absolute()}; run this where you crawled, "
            "or name a store with --store rocks:///DIR or --store redis://HOST:PORT/DB"
        )
    raise ConfigError(several_jobs(jobs))


def several_jobs(job_dirs: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in job_dirs)
    return f"there are several jobs here: {names}; name one with --job"


async def look(home: JobHome, *, has_hosts: bool = True) -> Look:
    """The state of the crawl. Works while it is running. `has_hosts`: with those that are busy."""

    async def question(frontier: FrontierBackend) -> Look:
        return Look(
            stats=await frontier.stats(),
            hosts=await frontier.hosts(sys.maxsize) if has_hosts else (),
            is_finished=await frontier.is_finished(),
            seen=await frontier.seen_report(),
            next_due_in_ms=await frontier.next_due_in_ms(),
        )

    return await ask(home.store, home.job, question)


async def explain(home: JobHome, url: str) -> Explanation:
    """What happened to a URL. Works while the crawl is running."""

    async def question(frontier: FrontierBackend) -> Explanation:
        # Unless the host key is the host name, the URL may be anywhere.
        host = host_key(url) if frontier.host_key is HostKey.HOST else None
        number = fingerprint(url)
        [told] = await frontier.explain([number], host)
        if host is not None and told == Explanation(number):  # it may be in a download slot
            [told] = await frontier.explain([number])
        return told

    return await ask(home.store, home.job, question)


async def count_hours(home: JobHome) -> list[Hour]:
    """What was finished, by hour of UTC. Works while the crawl is running."""
    return await ask(home.store, home.job, lambda frontier: frontier.hours())


async def look_back(home: JobHome) -> Past:
    """What there is of an earlier crawl, if any."""

    async def question(frontier: FrontierBackend) -> Past:
        project = frontier.project if isinstance(frontier, LeasesBuckets) else ""
        return Past(await frontier.stats(), await frontier.is_finished(), project)

    try:
        return await ask(home.store, home.job, question)
    except StoreMissingError:
        return Past(Stats())


async def clear(home: JobHome, kind: PageKind | None = None) -> None:
    """Empty the queues and forget what was seen, for one kind of pages or for all."""

    async def forget(frontier: FrontierBackend) -> None:
        await frontier.clear(kind)
        if kind is not None:  # the rest of the crawl is no longer finished
            await frontier.begin(is_fresh=False, is_rerun=False)

    await ask(home.store, home.job, forget, is_read_only=False)
    if kind is None:
        await forget_past(home.store.directory or home.store.url, home.job)

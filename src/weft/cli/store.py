"""Asking the frontier of a job.

A job that several workers have shared without a store of the user's has a private server, whose
data is in the job's directory, in place of an embedded frontier.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Frontier, Store, open_frontier, parse_store
from weft.redis.server import PrivateServer, running_url

#: What a job's directory holds: its frontier, or the data of its private server.
FRONTIER_NAME = "frontier"
SERVER_NAME = "server"

Answer = TypeVar("Answer")


def has_frontier(store: Store) -> bool:
    """Whether an embedded frontier is there."""
    return store.directory is not None and (store.directory / FRONTIER_NAME).is_dir()


def has_server(store: Store) -> bool:
    """Whether the job in this directory has a private server."""
    return store.directory is not None and (store.directory / SERVER_NAME).is_dir()


@contextmanager
def private_store(job_dir: Path) -> Iterator[Store]:
    """The private server of a job, running as long as the context is open."""
    with PrivateServer(job_dir / SERVER_NAME) as server:
        yield parse_store(server.url)


@contextmanager
def _answering_store(job_dir: Path) -> Iterator[Store]:
    """The private server of a job: that of a running crawl, or else started for a question."""
    if url := running_url(job_dir / SERVER_NAME):
        yield parse_store(url)
        return
    with private_store(job_dir) as store:
        yield store


def ask(
    store: Store,
    job: str,
    question: Callable[[Frontier], Awaitable[Answer]],
    *,
    is_read_only: bool = True,
) -> Answer:
    """Open the frontier, put a question, close it. Reading works while a crawl is running."""
    if store.directory is not None and has_server(store):
        with _answering_store(store.directory) as there:
            job = only_job(there, place=str(store.directory))
            return ask(there, job, question, is_read_only=is_read_only)
    if not store.is_shared and not has_frontier(store):
        raise StoreMissingError(f"there is no frontier in {store.directory}; crawl something first")

    async def open_and_ask() -> Answer:
        async with open_frontier(store, job, is_read_only=is_read_only) as frontier:
            return await question(frontier)

    return asyncio.run(open_and_ask())


def only_job(store: Store, place: str = "") -> str:
    """The name of the job in a shared store, if there is one."""
    # Here, for an embedded store needs no Redis client.
    from weft.frontier.redis import list_jobs

    jobs = sorted(asyncio.run(list_jobs(store.url)))
    place = place or store.place
    if not jobs:
        raise StoreMissingError(f"there is no job in {place}; crawl something first")
    if len(jobs) > 1:
        raise ConfigError(
            f"there are several jobs in {place}: {', '.join(jobs)}; name one with --job"
        )
    return jobs[0]


def place_of(store: Store, job: str) -> str:
    """Where a job lives, for people."""
    return f"{job} in {store.place}" if store.is_shared else str(store.directory)

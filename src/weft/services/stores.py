"""Queries the frontier of a job.

If several workers have shared a job and the user gave no store, its directory holds the data of a
private server instead of an embedded frontier.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TypeVar

from weft.errors import ConfigError, StoreMissingError, store_error
from weft.frontier import FrontierBackend, Store, open_frontier, parse_store
from weft.redis.server import PrivateServer, running_url

#: In a job's directory: its frontier, or the data of its private server.
FRONTIER_NAME = "frontier"
SERVER_NAME = "server"

Answer = TypeVar("Answer")


def has_frontier(store: Store) -> bool:
    """Whether an embedded frontier exists."""
    return store.directory is not None and _is_there(store.directory / FRONTIER_NAME)


def has_server(store: Store) -> bool:
    """Whether the job in this directory has a private server."""
    return store.directory is not None and _is_there(store.directory / SERVER_NAME)


def _is_there(directory: Path) -> bool:
    try:
        return directory.is_dir()
    except OSError as problem:
        raise store_error(str(directory), problem) from problem


def other_arguments(job_dir: Path) -> str:
    """Jobs of the same spider with arguments, if it has any: the user may mean one of them."""
    found = sorted(path.name for path in job_dir.parent.glob(f"{escape(job_dir.name)}-*"))
    return f"there are jobs with arguments: {', '.join(found)}; use --job" if found else ""


@contextmanager
def private_store(job_dir: Path) -> Iterator[Store]:
    """The private server of a job, running while the context is open."""
    with PrivateServer(job_dir / SERVER_NAME) as server:
        yield parse_store(server.url)


@contextmanager
def _answering_store(job_dir: Path) -> Iterator[Store]:
    """The private server of a job: that of a running crawl, or else one started for this query."""
    if url := running_url(job_dir / SERVER_NAME):
        yield parse_store(url)
        return
    with private_store(job_dir) as store:
        yield store


async def ask(
    store: Store,
    job: str,
    question: Callable[[FrontierBackend], Awaitable[Answer]],
    *,
    is_read_only: bool = True,
) -> Answer:
    """Open the frontier, call `question`, close it. Reading works while a crawl is running."""
    if store.directory is not None and has_server(store):
        with _answering_store(store.directory) as there:
            job = await only_job(there, place=str(store.directory))
            return await ask(there, job, question, is_read_only=is_read_only)
    if store.directory is not None and not has_frontier(store):
        raise StoreMissingError(
            f"there is no frontier in {store.directory}; "
            f"{other_arguments(store.directory) or 'crawl something first'}"
        )
    async with open_frontier(store, job, is_read_only=is_read_only) as frontier:
        return await question(frontier)


async def only_job(store: Store, place: str = "") -> str:
    """The name of the only job in a shared store; raises if there is none, or more than one."""
    # Imported here because an embedded store needs no Redis client.
    from weft.frontier.redis import list_jobs

    jobs = sorted(await list_jobs(store.url))
    place = place or store.place
    if not jobs:
        raise StoreMissingError(f"there is no job in {place}; crawl something first")
    if len(jobs) > 1:
        raise ConfigError(
            f"there are several jobs in {place}: {', '.join(jobs)}; name one with --job"
        )
    return jobs[0]


def check_shared(store: Store) -> Store:
    """Raises ConfigError for a store that only one process can use."""
    if not store.is_shared:
        raise ConfigError(
            f"{store.place} is an embedded store, which only one process can use; name one that "
            "nodes can share: --store redis://HOST:PORT/DB"
        )
    return store


def shared_store(url: str) -> Store:
    """The store at this address, which nodes share."""
    return check_shared(parse_store(url))

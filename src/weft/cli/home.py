"""Where the job of a crawl lives: in a store that the user names, or in the job's directory.

There it has an embedded frontier, which one process can have, or a private server, which serves all
workers of one command. It is made for what its first command wants and stays that: a job with a
private server is crawled on it, also by one worker. Only a crawl that starts over may move.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from weft.cli.store import FRONTIER_NAME, SERVER_NAME, has_frontier, has_server, private_store
from weft.errors import ConfigError, StoreMissingError, store_error
from weft.frontier import Store, open_frontier
from weft.node.machine import can_steer
from weft.redis.server import forget_server


def check_workers(store: Store, *, is_named: bool, is_fresh: bool) -> None:
    """Raises ConfigError if several workers cannot have this store, or cannot be steered here."""
    if not can_steer():
        raise ConfigError(
            "--workers: this system lacks the signals that several workers are steered with; use "
            "Linux or macOS, or start this command once for each worker, without --workers and "
            "with --store redis://HOST:PORT/DB"
        )
    if store.is_shared:
        return
    if is_named:
        raise ConfigError(
            f"--workers: {store.place} is an embedded store, which only one process can have; "
            "leave the store out, and the workers get a private server, or name one that they can "
            "share: --store redis://HOST:PORT/DB"
        )
    if has_frontier(store) and not has_server(store) and not is_fresh:
        raise ConfigError(
            f"--workers: the job in {store.directory} lives in an embedded store, which only one "
            "process can have; go on without --workers, or add --fresh to start over"
        )


@contextmanager
def open_home(store: Store, job: str, *, has_crew: bool) -> Iterator[Store]:
    """The store that the crawl runs on; a private server lives as long as the context is open."""
    if store.directory is None or not has_crew:
        yield store
        return
    with private_store(store.directory) as home:
        asyncio.run(_forget_workers(home, job))
        yield home


async def _forget_workers(home: Store, job: str) -> None:
    """Workers that were killed have left leases and claims, and no worker of a private server
    outlives its command: the new ones need not wait until they run out."""
    # Here, for an embedded store needs no Redis client.
    from weft.frontier.redis import RedisFrontier

    with suppress(StoreMissingError):
        async with RedisFrontier(home.url, job, is_read_only=True) as frontier:
            await frontier.forget_workers()


def forget_other_home(store: Store, job: str, *, has_crew: bool) -> None:
    """A crawl that starts over lives where its command says; nothing is left elsewhere to be taken
    for it later."""
    if store.directory is None:
        return
    if not has_crew and has_server(store):
        forget_server(store.directory / SERVER_NAME)
    if has_crew and has_frontier(store):
        asyncio.run(_forget_frontier(store, job))


async def _forget_frontier(store: Store, job: str) -> None:
    assert store.directory is not None
    async with open_frontier(store, job):
        pass  # nobody has it open
    try:
        shutil.rmtree(store.directory / FRONTIER_NAME)
    except OSError as problem:
        raise store_error(str(store.directory), problem) from problem

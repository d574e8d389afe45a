"""Where the job of a crawl lives: in a store given by the user, or in the job's directory.

In the directory it has either an embedded frontier, for one process, or a private server, which
serves all workers of one command. The first command decides, and that stays: a job with a private
server is crawled on it, even by one worker. Only a crawl that starts over may move.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from weft.errors import ConfigError, StoreMissingError, store_error
from weft.frontier import Store, open_frontier
from weft.node.machine import can_steer
from weft.redis.server import forget_server
from weft.services.stores import FRONTIER_NAME, SERVER_NAME, has_frontier, has_server, private_store


def check_workers(store: Store, *, is_named: bool, is_fresh: bool) -> None:
    """Raises ConfigError if several workers cannot use this store, or cannot be controlled here."""
    if not can_steer():
        raise ConfigError(
            "--workers: this system lacks the signals that control several workers; use Linux or "
            "macOS, or start this command once for each worker, without --workers and with "
            "--store redis://HOST:PORT/DB"
        )
    if store.is_shared:
        return
    if is_named:
        raise ConfigError(
            f"--workers: {store.place} is an embedded store, which only one process can use; "
            "omit the store to give the workers a private server, or name one that they can "
            "share: --store redis://HOST:PORT/DB"
        )
    if has_frontier(store) and not has_server(store) and not is_fresh:
        raise ConfigError(
            f"--workers: the job in {store.directory} lives in an embedded store, which only one "
            "process can use; continue without --workers, or add --fresh to start over"
        )


@contextmanager
def open_home(store: Store, job: str, *, has_crew: bool) -> Iterator[Store]:
    """The store that the crawl runs on; a private server lives as long as the context is open."""
    if store.directory is None or not has_crew:
        yield store
        return
    with private_store(store.directory) as home:
        asyncio.run(_forget_dead_workers(home, job))
        yield home


async def _forget_dead_workers(home: Store, job: str) -> None:
    """Workers that were killed have left leases and claims behind. No worker of a private server
    outlives its command, so the new ones need not wait until these run out."""
    # Imported here because an embedded store needs no Redis client.
    from weft.frontier.redis import RedisFrontier
    from weft.services.cluster import open_cluster

    with suppress(StoreMissingError):
        async with RedisFrontier(home.url, job, is_read_only=True) as frontier:
            await frontier.forget_leases()
        async with open_cluster(home) as cluster:
            await cluster.workers.forget(job)


async def forget_other_home(store: Store, job: str, *, has_crew: bool) -> None:
    """A crawl that starts over lives where its command says. Remove its other home, which might
    otherwise be mistaken for it later."""
    if store.directory is None:
        return
    if not has_crew and has_server(store):
        forget_server(store.directory / SERVER_NAME)
    if has_crew and has_frontier(store):
        await _forget_frontier(store, job)


async def _forget_frontier(store: Store, job: str) -> None:
    assert store.directory is not None
    async with open_frontier(store, job):
        pass  # no other process has it open
    try:
        shutil.rmtree(store.directory / FRONTIER_NAME)
    except OSError as problem:
        raise store_error(str(store.directory), problem) from problem

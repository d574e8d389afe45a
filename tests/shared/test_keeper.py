"""The thread that keeps the leases of a worker while its event loop is blocked."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from launchers.redis import RedisServer
from weft.clock import monotonic_s
from weft.engine.claims.keeper import LeaseKeeper
from weft.engine.claims.leasetime import LeaseTime
from weft.redis.client import Client
from weft.testing.waiting import wait_until

NOWHERE = "unix:///nowhere/socket"


class Worker:
    """One that has sent a sign of life, too late to keep its leases, and sends no other."""

    def __init__(self, *urls: str, are_ours: bool = True) -> None:
        """`urls`: where the keeper finds the store, each time it looks; the last one stays."""
        self.urls = list(urls)
        self.are_ours = are_ours
        self.kept = 0
        self.lease_time = LeaseTime(60.0, lambda: None, monotonic_s)
        self.lease_time.note_beaten(asked_at_s=-math.inf)

    def connect(self) -> Client:
        url = self.urls.pop(0) if len(self.urls) > 1 else self.urls[0]
        return Client(url, patience_s=0.0)

    async def keep(self, client: Client) -> bool:
        assert await client.run([("PING",)]) == [True]
        self.kept += 1
        return self.are_ours

    @contextmanager
    def kept_by_its_keeper(self) -> Iterator[None]:
        keeper = LeaseKeeper(self.lease_time, self.connect, self.keep, after_s=0.01, until_s=60.0)
        keeper.start()
        try:
            yield
        finally:
            keeper.stop()
            keeper._thread.join()


def test_leases_are_kept_while_the_worker_is_silent(redis_server: RedisServer) -> None:
    worker = Worker(redis_server.url)
    with worker.kept_by_its_keeper():
        wait_until(lambda: worker.kept > 1, "they are kept again and again")
    assert worker.lease_time.is_sure


def test_leases_that_are_not_ours_any_more_are_not_counted_on(redis_server: RedisServer) -> None:
    worker = Worker(redis_server.url, are_ours=False)
    with worker.kept_by_its_keeper():
        wait_until(lambda: worker.kept > 1, "the keeper has asked again")
    assert not worker.lease_time.is_sure


def test_a_store_that_is_away_is_asked_again(redis_server: RedisServer) -> None:
    worker = Worker(NOWHERE, NOWHERE, redis_server.url)
    with worker.kept_by_its_keeper():
        wait_until(lambda: worker.kept > 0, "the leases are kept when it is back")
    assert worker.lease_time.is_sure

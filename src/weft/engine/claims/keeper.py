"""Keeps the leases of a worker while its event loop is blocked.

A spider callback or a parser may take longer than a lease lasts, and blocks the event loop
meanwhile. The worker is alive: its buckets must not go to others, which would fetch its pages
again. So a thread with its own connection checks every second whether the share has sent a sign of
life, and sends one in its place if it has not.

A worker that hangs for good must lose its leases, so this goes on no longer than a claim lasts.
"""

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

from weft.clock import monotonic_s
from weft.engine.claims.leasetime import LeaseTime
from weft.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from weft.redis.client import Client  # an embedded store needs none

logger = logging.getLogger(__name__)

#: Time between two checks.
LOOK_S = 1.0


class LeaseKeeper:
    """Runs from `start` to `stop`."""

    def __init__(
        self,
        lease_time: LeaseTime,
        make_client: "Callable[[], Client]",
        keep: "Callable[[Client], Awaitable[bool]]",
        *,
        after_s: float,
        until_s: float,
    ) -> None:
        """`keep` keeps the leases and returns whether all are still ours. It is called while the
        last beat is at least `after_s`, but less than `until_s` ago."""
        self._lease_time = lease_time
        self._make_client = make_client
        self._keep = keep
        self._after_s = after_s
        self._until_s = until_s
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weft-leases", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The thread ends on its own soon."""
        self._is_stopped.set()

    def _run(self) -> None:
        while not self._is_stopped.wait(min(LOOK_S, self._after_s)):
            if self._is_needed():
                try:
                    asyncio.run(self._keep_while_needed())
                except StoreError as problem:
                    # The share also waits for the store, and reports it.
                    logger.debug("the leases could not be kept: %s", problem)

    def _is_needed(self) -> bool:
        is_stopped = self._is_stopped.is_set()
        return not is_stopped and self._after_s <= self._lease_time.silent_s() < self._until_s

    async def _keep_while_needed(self) -> None:
        async with self._make_client() as client:
            while self._is_needed():
                asked_at_s = monotonic_s()
                if not await self._keep(client):
                    return
                self._lease_time.extend(asked_at_s)
                await asyncio.sleep(min(LOOK_S, self._after_s))

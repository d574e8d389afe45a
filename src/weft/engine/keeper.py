"""Keeps the leases of a worker while its event loop is held up.

A callback of a spider, or a parser, may take longer than a lease lasts, and nothing else happens in
the event loop meanwhile. The worker is alive: its buckets must not go to others, who would fetch
its pages again. So a thread with a connection of its own looks every second whether the share has
said that it is there, and says so in its place if it has not.

A worker that hangs for good must lose its leases. So this is done for no longer than a claim lasts.
"""

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Protocol

from weft.clock import monotonic_s
from weft.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from weft.redis.client import Client  # an embedded store needs none

logger = logging.getLogger(__name__)

#: Time between two looks.
LOOK_S = 1.0


class KeptShare(Protocol):
    """What the keeper needs of a share."""

    def silent_s(self) -> float:
        """How long it has not said that it is there."""
        ...

    def extend(self, asked_at_s: float) -> None:
        """The leases were kept for it; called in another thread."""
        ...


class LeaseKeeper:
    """Open from `start` to `stop`."""

    def __init__(
        self,
        share: KeptShare,
        make_client: "Callable[[], Client]",
        keep: "Callable[[Client], Awaitable[bool]]",
        *,
        after_s: float,
        until_s: float,
    ) -> None:
        """`keep` keeps the leases, and tells whether all are still ours. It is called when the
        share has been silent for `after_s`, but not any more when it has been for `until_s`."""
        self._share = share
        self._make_client = make_client
        self._keep = keep
        self._after_s = after_s
        self._until_s = until_s
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weft-leases", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """It ends by itself, soon."""
        self._is_stopped.set()

    def _run(self) -> None:
        while not self._is_stopped.wait(min(LOOK_S, self._after_s)):
            if self._is_needed():
                try:
                    asyncio.run(self._keep_while_needed())
                except StoreError as problem:
                    # The share waits for the store, and says so.
                    logger.debug("the leases could not be kept: %s", problem)

    def _is_needed(self) -> bool:
        is_stopped = self._is_stopped.is_set()
        return not is_stopped and self._after_s <= self._share.silent_s() < self._until_s

    async def _keep_while_needed(self) -> None:
        async with self._make_client() as client:
            while self._is_needed():
                asked_at_s = monotonic_s()
                if not await self._keep(client):
                    return
                self._share.extend(asked_at_s)
                await asyncio.sleep(min(LOOK_S, self._after_s))

"""The agent of a machine: says that it is there, and serves the jobs of a store.

Once a second it says how it is, hears what it is to do, looks at the jobs, and starts and ends
their workers accordingly. Each running job gets its workers; one that is stopped loses them, first
asked and then killed, so that stopping really stops.

If the agent dies, its workers die with it, and others see it as lost. If Redis is away, it waits,
and its workers do so by themselves.
"""

import asyncio
import math
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from weft._version import __version__
from weft.clock import SystemClock, monotonic_s
from weft.cluster.jobs import Jobs
from weft.cluster.nodes import NodeOrder, Nodes, NodeState, NodeStatus
from weft.cluster.status import BEAT_S
from weft.errors import ConfigError, StoreError
from weft.node import machine
from weft.node.duties import Duties, NodeConfig
from weft.redis.client import Client
from weft.reports import Rate

#: Time between two looks whether someone who has our name is alive.
RIVAL_S = 0.5
#: How long to try to say goodbye.
LEAVE_S = 2.0
#: If the store did not answer for so long, workers may have failed for that reason.
AWAY_S = 10.0


class Agent:
    """`warn` is told what people should read."""

    def __init__(self, config: NodeConfig, warn: Callable[[str], None]) -> None:
        self._config = config
        self._warn = warn
        self._client = Client(config.store.url, patience_s=math.inf)
        self._nodes = Nodes(self._client)
        self._jobs = Jobs(self._client)
        self._duties = Duties(config, self._jobs, warn)
        self._instance = secrets.token_hex(8)
        self._started_at_ms = SystemClock().now_ms()
        self._rate = Rate()
        self._leaving = asyncio.Event()
        self._is_interrupted = False
        self._is_killed = False
        self._is_over = False

    async def run(self) -> bool:
        """Until a signal or an order ends it; False: it was killed by a second signal."""
        async with self._client:
            with self._signals():
                if await self._take_name():
                    await self._serve()
                    await self._leave()
        return not self._is_killed

    async def _take_name(self) -> bool:
        """Raises ConfigError if another has our name. The name of one that has died is free when it
        is lost; that is waited for, unless we are told to end."""
        rival_at_ms = 0
        while not self._leaving.is_set():
            beaten, _ = await self._nodes.beat(self._config.name, self._instance, self._status())
            if not beaten.rival_at_ms:
                return True
            if not rival_at_ms:
                self._warn(f"{self._config.name} was here a moment ago; is it still?")
            elif beaten.rival_at_ms != rival_at_ms:
                raise self._taken()
            rival_at_ms = beaten.rival_at_ms
            await asyncio.sleep(RIVAL_S)
        return False

    def _taken(self) -> ConfigError:
        return ConfigError(
            f"there is a node {self._config.name} already in {self._config.store.place}; "
            "give this one another name with --name"
        )

    async def _serve(self) -> None:
        beats = asyncio.ensure_future(self._beat_on())
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait([beats, leaving], return_when=asyncio.FIRST_COMPLETED)
            self._leaving.set()
            self._duties.drain()
            await self._duties.end()
        finally:
            leaving.cancel()
            self._is_over = True
            beats.cancel()
        await asyncio.wait([beats], timeout=LEAVE_S)
        if beats.done() and not beats.cancelled():
            beats.result()  # raises what has ended it

    async def _leave(self) -> None:
        """Say goodbye; if that takes long, others notice by themselves."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._duties.bury()
                await self._nodes.leave(self._config.name)

    # Once a second

    async def _beat_on(self) -> None:
        # Cancelling alone is not enough: in Python 3.11 `asyncio.wait_for`, which redis-py sends
        # with, swallows that now and then.
        while not self._is_over:
            await self._beat()
            await self._duties.follow(await self._jobs.all())
            await asyncio.sleep(BEAT_S)

    async def _beat(self) -> None:
        asked_at_s = monotonic_s()
        beaten, order = await self._nodes.beat(self._config.name, self._instance, self._status())
        if beaten.rival_at_ms:  # we were away for long, and another has come
            raise self._taken()
        if monotonic_s() - asked_at_s > AWAY_S:
            self._duties.forgive()
        self._obey(order)

    def _obey(self, order: NodeOrder | None) -> None:
        if order is NodeOrder.STOP:
            self._leaving.set()
        if order or self._leaving.is_set():
            self._duties.drain()
        else:
            self._duties.is_draining = False

    def _status(self) -> NodeStatus:
        totals = self._duties.totals()
        load = machine.look()
        return NodeStatus(
            host=socket.gethostname(),
            pid=os.getpid(),
            state=self._state(),
            cores=machine.usable_cores(),
            processes=self._config.processes,
            cpu_share=load.cpu_share,
            memory_bytes=load.memory_bytes,
            memory_total_bytes=load.memory_total_bytes,
            load=load.processes,
            pages=totals.pages,
            pages_per_s=self._rate.update(totals.pages, monotonic_s()),
            errors=totals.errors,
            deaths=totals.deaths,
            jobs=self._duties.statuses(),
            version=__version__,
            started_at_ms=self._started_at_ms,
        )

    def _state(self) -> NodeState:
        if not self._duties.is_draining:
            return NodeState.RUNNING
        return NodeState.DRAINED if self._duties.is_idle else NodeState.DRAINING

    # Signals

    @contextmanager
    def _signals(self) -> Iterator[None]:
        handlers = {
            signal.SIGINT: self._interrupt,
            signal.SIGTERM: self._interrupt,
            signal.SIGTSTP: self._duties.freeze,
        }
        loop = asyncio.get_running_loop()
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _interrupt(self) -> None:
        """The first lets the workers finish what is under way, the second kills them."""
        if self._is_interrupted:
            self._is_killed = True
            self._duties.kill()
        self._is_interrupted = True
        self._leaving.set()
        self._duties.drain()

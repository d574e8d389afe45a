"""The agent of a machine: reports that it is alive, and serves the jobs of a store.

Once a second it reports its status, gets its commands, looks at the jobs, and starts and stops
their workers accordingly. Each running job gets its workers. The workers of a stopped job are first
asked to end and then killed, so that stopping really stops.

If the agent dies, its workers die with it, and others see it as lost. If Redis is down, the agent
waits, and so do its workers.
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
from weft.cluster.nodes import NodeCommand, Nodes, NodeStatus
from weft.cluster.status import BEAT_S
from weft.cluster.workers import Workers
from weft.errors import ConfigError, StoreError
from weft.node import machine
from weft.node.config import NodeConfig
from weft.node.follower import JobFollower
from weft.node.nodejobs import NodeJobs
from weft.redis.client import Client
from weft.reports import Rate

#: Time between two checks whether the other holder of our name is alive.
RIVAL_S = 0.5
#: How long to try to leave properly.
LEAVE_S = 2.0
#: If the store did not answer for this long, workers may have failed for that reason.
AWAY_S = 10.0


class Agent:
    """`warn` is called with messages for the user."""

    def __init__(self, config: NodeConfig, warn: Callable[[str], None]) -> None:
        self._config = config
        self._warn = warn
        self._client = Client(config.store.url, patience_s=math.inf)
        self._nodes = Nodes(self._client)
        self._jobs = Jobs(self._client)
        self._node_jobs = NodeJobs(warn)
        self._follower = JobFollower(config, Workers(self._client), self._node_jobs)
        self._instance = secrets.token_hex(8)
        self._started_at_ms = SystemClock().now_ms()
        self._rate = Rate()
        self._leaving = asyncio.Event()
        self._is_interrupted = False
        self._is_killed = False
        self._is_over = False

    async def run(self) -> bool:
        """Run until a signal or a command ends it. Return False if a second signal killed it."""
        async with self._client:
            with self._signals():
                if await self._take_name():
                    await self._serve()
                    await self._leave()
        return not self._is_killed

    async def _take_name(self) -> bool:
        """Raises ConfigError if another live agent has our name. The name of a dead one is free
        once it is lost; wait for that, unless we have to end."""
        rival_at_ms = 0
        while not self._leaving.is_set():
            beaten, _ = await self._nodes.beat(self._config.name, self._instance, self._status())
            if not beaten.rival_at_ms:
                return True
            if not rival_at_ms:
                self._warn(
                    f"{self._config.name} was here a moment ago; checking whether it still is"
                )
            elif beaten.rival_at_ms != rival_at_ms:
                raise self._taken()
            rival_at_ms = beaten.rival_at_ms
            await asyncio.sleep(RIVAL_S)
        return False

    def _taken(self) -> ConfigError:
        return ConfigError(
            f"there is already a node {self._config.name} in {self._config.store.place}; "
            "give this one another name with --name"
        )

    async def _serve(self) -> None:
        beats = asyncio.ensure_future(self._beat_on())
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait([beats, leaving], return_when=asyncio.FIRST_COMPLETED)
            self._leaving.set()
            self._follower.drain()
            await self._node_jobs.end()
        finally:
            leaving.cancel()
            self._is_over = True
            beats.cancel()
        await asyncio.wait([beats], timeout=LEAVE_S)
        if beats.done() and not beats.cancelled():
            beats.result()  # raises the error that ended it

    async def _leave(self) -> None:
        """Leave properly; if that takes too long, others notice by themselves."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._follower.bury()
                await self._nodes.leave(self._config.name)

    # Once a second

    async def _beat_on(self) -> None:
        # Cancelling alone is not enough: in Python 3.11 `asyncio.wait_for`, which redis-py uses to
        # send, sometimes swallows it.
        while not self._is_over:
            await self._beat()
            await self._follower.follow(await self._jobs.all())
            await asyncio.sleep(BEAT_S)

    async def _beat(self) -> None:
        asked_at_s = monotonic_s()
        beaten, command = await self._nodes.beat(self._config.name, self._instance, self._status())
        if beaten.rival_at_ms:  # we were away for long, and another took the name
            raise self._taken()
        if monotonic_s() - asked_at_s > AWAY_S:
            self._follower.forgive()
        self._obey(command)

    def _obey(self, command: NodeCommand | None) -> None:
        if command is NodeCommand.STOP:
            self._leaving.set()
        if command or self._leaving.is_set():
            self._follower.drain()
        else:
            self._follower.is_draining = False

    def _status(self) -> NodeStatus:
        totals = self._node_jobs.totals()
        load = machine.look()
        return NodeStatus(
            host=socket.gethostname(),
            pid=os.getpid(),
            state=self._follower.state,
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
            jobs=self._node_jobs.statuses(),
            version=__version__,
            started_at_ms=self._started_at_ms,
        )

    # Signals

    @contextmanager
    def _signals(self) -> Iterator[None]:
        handlers = {
            signal.SIGINT: self._interrupt,
            signal.SIGTERM: self._interrupt,
            signal.SIGTSTP: self._node_jobs.freeze,
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
        """The first lets the workers finish what is in progress, the second kills them."""
        if self._is_interrupted:
            self._is_killed = True
            self._node_jobs.kill()
        self._is_interrupted = True
        self._leaving.set()
        self._follower.drain()

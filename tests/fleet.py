"""Nodes and jobs of a store, as tests start, watch and end them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeVar

import nursery
from running import WEFT, Weft
from weft.cluster.jobs import Job, Jobs
from weft.cluster.nodes import Node, NodeJobState, NodeJobStatus, Nodes
from weft.cluster.workers import Worker, Workers
from weft.frontier import parse_store
from weft.records import Stats
from weft.redis.client import Client
from weft.services.stores import ask
from weft.testing import SiteServer
from weft.testing.waiting import wait_until

Answer = TypeVar("Answer")


class NodeProcess:
    """`weft worker`, from the outside."""

    def __init__(self, weft: Weft, url: str, name: str, *options: str) -> None:
        self.name = name
        # To a file: nobody reads a pipe while it runs.
        self._log = weft.directory / f"{name}.log"
        with self._log.open("w") as log:
            self.process = nursery.Popen(
                [WEFT, "worker", "--store", url, "--name", name, *options],
                cwd=weft.directory,
                stdout=log,
                stderr=log,
            )

    def said(self) -> str:
        return self._log.read_text()

    def ended(self, timeout_s: float = 20) -> int:
        """Its exit code, when it has ended."""
        return self.process.wait(timeout_s)

    def send(self, number: int) -> None:
        self.process.send_signal(number)


class Fleet:
    """All that shares a store."""

    def __init__(self, weft: Weft, url: str) -> None:
        self.weft = weft
        self.url = url

    @contextmanager
    def node(
        self, name: str, *options: str, directory: Path | None = None
    ) -> Iterator[NodeProcess]:
        """A node that is there, and does not outlive a test that fails."""
        weft = Weft(directory) if directory else self.weft
        node = NodeProcess(weft, self.url, name, *options)
        try:
            wait_until(
                lambda: node.process.poll() is not None or self.state(name) == "running",
                description=f"{name} is there: {node.said()}",
            )
            yield node
        finally:
            node.process.kill()
            node.process.wait()

    def run(self, *command: str) -> CompletedProcess[str]:
        """A command with this store."""
        return self.weft(*command, "--store", self.url)

    def look(self, *command: str) -> Any:
        """What `weft nodes` or `weft jobs` tells programs."""
        return json.loads(self.run(*command, "--json").stdout)

    # A look without a command, which takes a second

    def nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self._ask(lambda client: Nodes(client).all())}

    def state(self, name: str) -> str:
        node = self.nodes().get(name)
        return node.state if node else ""

    def node_job(self, node: str, job: str) -> NodeJobStatus:
        none = NodeJobStatus(NodeJobState.STARTING)
        return self.nodes()[node].status.jobs.get(job, none)

    def jobs(self) -> dict[str, Job]:
        return {job.name: job for job in self._ask(lambda client: Jobs(client).all())}

    def stats(self, job: str) -> Stats:
        return asyncio.run(ask(parse_store(self.url), job, lambda frontier: frontier.stats()))

    def workers(self, job: str) -> list[Worker]:
        """Those that are there."""
        found = self._ask(lambda client: Workers(client).of([job]))[job]
        return [worker for worker in found if not worker.is_lost]

    def pids(self, job: str) -> set[int]:
        return {worker.status.pid for worker in self.workers(job)}

    def _ask(self, question: Callable[[Client], Awaitable[Answer]]) -> Answer:
        async def ask() -> Answer:
            async with Client(self.url) as client:
                return await question(client)

        return asyncio.run(ask())


def pages_hit(server: SiteServer) -> list[str]:
    return [hit.host + hit.path for hit in server.hits() if hit.path != "/robots.txt"]


def are_gone(pids: set[int]) -> bool:
    """Also those that are dead and that nobody has asked about yet have no command line."""
    return not any(_command_line(pid) for pid in pids)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""

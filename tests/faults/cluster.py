"""Nodes that crawl together, each on a machine of its own, and what can befall them."""

import json
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from network import Machine, Network
from running import WEFT, Weft
from weft.redis.server import start_child

Process = subprocess.Popen[bytes]

JOB = "faults"
LEAVE_S = 60.0


@dataclass(frozen=True)
class Order:
    """What to crawl, and how."""

    urls: Sequence[str]
    store: str
    delays_s: dict[str, float]
    concurrency: int
    buckets: int
    lease_s: float

    def arguments(self) -> list[str]:
        """Of the command that starts the job."""
        slots = {host: {"delay": delay_s} for host, delay_s in self.delays_s.items()}
        settings = {
            "WEFT_LEASE_TIMEOUT": self.lease_s,
            "WEFT_BUCKETS": self.buckets,
            "DOWNLOAD_SLOTS": json.dumps(slots),
        }
        pairs = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        options = ["--store", self.store, "--job", JOB, "-o", "out.jsonl"]
        return [
            "job",
            "start",
            *self.urls,
            *options,
            "--concurrency",
            str(self.concurrency),
            *pairs,
        ]


class Node:
    """A machine, and what runs on it."""

    def __init__(self, machine: Machine, store: str, directory: Path) -> None:
        self.machine = machine
        self._store = store
        self._directory = directory
        self.log = directory / f"{machine.name}.log"
        self._process: Process | None = None
        #: It was told to go, or killed.
        self.is_told = False
        self._is_killed = False
        #: Something has befallen it that is not over.
        self.is_troubled = False

    @property
    def name(self) -> str:
        return self.machine.name

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def is_well(self) -> bool:
        """It runs, and nothing ails it."""
        return self.is_running and not self.is_told and not self.is_troubled

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """For the first time, or again."""
        self.is_told = self._is_killed = False
        arguments = ["worker", "--store", self._store, "--name", self.name, "--processes", "1"]
        command = self.machine.command(WEFT, *arguments)
        shell = ["/usr/bin/env", "--chdir", str(self._directory), *command]
        self._process = start_child(shell, self.log, death_signal=signal.SIGKILL)

    def kill(self) -> None:
        """As a machine that loses its power, but for its connections, which are closed."""
        self.is_told = self._is_killed = True
        if self._process:
            self._process.kill()  # it may not have reached the machine yet
        self.machine.send(signal.SIGKILL)
        if self._process:
            self._process.wait(LEAVE_S)

    def leave(self) -> None:
        """Told to end; it does so in its time."""
        self.is_told = True
        assert self._process
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.machine.send(signal.SIGSTOP)

    def go_on(self) -> None:
        self.machine.send(signal.SIGCONT)

    def check_end(self) -> None:
        """It must end now, and well, unless it was killed."""
        if self._process:
            self._process.wait(LEAVE_S)
        log = self.log.read_text()
        # One that has only just been started does not know yet what to do with SIGTERM.
        is_well = self.exit_code in (0, -signal.SIGTERM) or self._is_killed
        assert is_well, f"{self.name}: {self.exit_code}: {log}"
        assert "Traceback" not in log, log


class Cluster:
    def __init__(self, network: Network, order: Order, directory: Path) -> None:
        self._network = network
        self._order = order
        self._directory = directory
        self.nodes: list[Node] = []

    def start_job(self) -> None:
        started = Weft(self._directory)(*self._order.arguments())
        assert started.returncode == 0, started.stderr

    def join(self) -> Node:
        """One node more."""
        node = Node(self._network.add_machine(), self._order.store, self._directory)
        self.nodes.append(node)
        node.start()
        return node

    @property
    def names(self) -> dict[str, str]:
        """Names of the nodes by their addresses."""
        return {node.machine.address: node.name for node in self.nodes}

    def leave(self) -> None:
        """All nodes end, and well."""
        for node in self.nodes:
            if node.is_running and not node.is_told:
                node.leave()
        for node in self.nodes:
            node.check_end()

    def end(self) -> None:
        for node in self.nodes:
            node.kill()

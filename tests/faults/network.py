"""Machines of a cluster, as network namespaces of this one: each has addresses of its own.

There are two networks, each a bridge here: `store` leads to Redis, `site` to the web site. Every
machine is on both, so it can be cut off from the one and still reach the other. What is cut off
notices nothing but silence: its packets get lost at the bridge.

All names and addresses of a test run contain the number of its slot, which is locked. Who takes a
slot removes what a killed run has left there.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

import pytest

SLOTS = 60
#: Each slot has networks of 254 addresses: the store, the sites, the machines on their way there.
PREFIX = "10.77"
STORE, SITES, MACHINES = 0, 1, 2
#: The end of our own addresses.
HERE = 254
NETWORKS = ("store", "site")
#: States of the port of a bridge.
DISABLED, FORWARDING = 0, 3


class NetworkError(Exception):
    """This machine does not let us make networks."""


def ip(*arguments: str, lines: Sequence[str] = ()) -> str:
    """The `ip` command; `lines`: many commands at once."""
    command = ["ip", *arguments, *(["-batch", "-"] if lines else [])]
    try:
        done = subprocess.run(
            command, input="\n".join(lines), capture_output=True, text=True, check=False
        )
    except OSError as problem:
        raise NetworkError(f"cannot run ip: {problem.strerror}") from problem
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def _link_address(slot: int, network: str) -> str:
    """Of a bridge."""
    return f"02:77:00:00:{slot:02x}:{NETWORKS.index(network):02x}"


class Machine:
    """A namespace on both networks."""

    def __init__(self, slot: int, number: int) -> None:
        self._slot = slot
        self.name = f"weft{slot}-{number}"
        self.number = number
        #: What the site sees.
        self.address = f"{PREFIX}.{4 * slot + MACHINES}.{number}"
        #: What the store sees.
        self.store_address = f"{PREFIX}.{4 * slot + STORE}.{number}"
        self._sites = f"{PREFIX}.{4 * slot + SITES}.0/24"
        self._store = f"{PREFIX}.{4 * slot + STORE}.{HERE}"
        self._gateway = f"{PREFIX}.{4 * slot + MACHINES}.{HERE}"
        self._ports = {"store": f"weft{slot}r{number}", "site": f"weft{slot}w{number}"}
        self._bridges = {"store": f"weft{slot}store", "site": f"weft{slot}site"}

    def make(self) -> None:
        ip("netns", "add", self.name)
        for network, port in self._ports.items():
            ip("link", "add", port, "type", "veth", "peer", "name", network, "netns", self.name)
            ip("link", "set", port, "master", self._bridges[network], "up")
        # By way of a gateway: the kernel has room for a thousand neighbours only.
        inside = [
            "link set lo up",
            f"address add {self.store_address}/24 dev store",
            f"address add {self.address}/24 dev site",
            "link set store up",
            "link set site up",
            f"route add {self._sites} via {self._gateway}",
            self._neighbour("store", self._store),
            self._neighbour("site", self._gateway),
        ]
        ip("-netns", self.name, lines=inside)

    def _neighbour(self, network: str, address: str) -> str:
        """Known for good: the kernel would keep packets for one that does not answer, and deliver
        requests in the end that were given up long ago."""
        link_address = _link_address(self._slot, network)
        return f"neighbour add {address} lladdr {link_address} dev {network} nud permanent"

    def command(self, *command: str) -> list[str]:
        """What runs a command there, in the same process."""
        program = shutil.which("ip")
        assert program
        return [program, "netns", "exec", self.name, *command]

    def cut_off(self, *networks: str) -> None:
        for network in networks:
            self._set_port(network, DISABLED)

    def reconnect(self) -> None:
        for network in self._ports:
            self._set_port(network, FORWARDING)

    def _set_port(self, network: str, state: int) -> None:
        ip("link", "set", self._ports[network], "type", "bridge_slave", "state", str(state))

    def send(self, number: signal.Signals) -> None:
        """To every process there."""
        for pid in ip("netns", "pids", self.name).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), number)


class Network:
    """The bridges, and the machines that are made on them, while the context is open."""

    def __init__(self) -> None:
        self._slot = -1
        self.machines: list[Machine] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._slot = stack.enter_context(_free_slot())
            _remove_all(self._slot)
            stack.callback(_remove_all, self._slot)
            ip("netns", "add", f"weft{self._slot}-0")  # to see whether that can be
            self._add_bridge("store", self.store_address)
            self._add_bridge("site", f"{self._address(MACHINES)}.{HERE}")
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _add_bridge(self, name: str, address: str) -> None:
        bridge = f"weft{self._slot}{name}"
        # With an address of its own: else it takes that of one of its ports, and so may change it
        # with each machine that comes, and the others do not find it for a minute.
        ip("link", "add", bridge, "address", _link_address(self._slot, name), "type", "bridge")
        ip("address", "add", f"{address}/24", "dev", bridge)
        ip("link", "set", bridge, "up")

    def _address(self, network: int) -> str:
        return f"{PREFIX}.{4 * self._slot + network}"

    @property
    def store_address(self) -> str:
        return f"{self._address(STORE)}.{HERE}"

    def add_hosts(self, number: int) -> tuple[str, ...]:
        """Addresses for so many web sites."""
        hosts = tuple(f"{self._address(SITES)}.{i + 1}" for i in range(number))
        ip(lines=[f"address add {host}/32 dev weft{self._slot}site" for host in hosts])
        return hosts

    def add_machine(self) -> Machine:
        machine = Machine(self._slot, len(self.machines) + 1)
        machine.make()
        self.machines.append(machine)
        return machine


@contextmanager
def _free_slot() -> Iterator[int]:
    for slot in range(SLOTS):
        with Path(tempfile.gettempdir(), f"weft-network-{slot}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield slot
            return
    raise NetworkError("all slots for test networks are taken")


def _remove_all(slot: int) -> None:
    """End what runs in the namespaces of a slot, and remove them and the bridges."""
    names = [line.split()[0] for line in ip("netns", "list").splitlines()]
    for name in names:
        if name.startswith(f"weft{slot}-"):
            _end_all(name)
            ip("netns", "delete", name)
    links = [link["ifname"] for link in json.loads(ip("-json", "link"))]
    for name in links:
        if name.startswith(f"weft{slot}") and not name.removeprefix(f"weft{slot}")[0].isdigit():
            # Interfaces go with their peers, which go with their namespaces, a little later.
            with suppress(NetworkError):
                ip("link", "delete", name)


def _end_all(namespace: str) -> None:
    deadline_s = time.monotonic() + 10
    while (pids := ip("netns", "pids", namespace).split()) and time.monotonic() < deadline_s:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.02)


@contextmanager
def new_network() -> Iterator[Network]:
    """The test is skipped where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces")
    with ExitStack() as stack:
        try:
            network = stack.enter_context(Network())
        except NetworkError as problem:
            pytest.skip(f"cannot make network namespaces: {problem}")
        yield network

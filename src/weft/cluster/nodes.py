"""The nodes of a store: machines whose agents report every second that they are alive.

A name belongs to one agent at a time. A node that is not heard of is lost. Readers compute that
from when it was last heard of, by the clock of Redis, because a lost node cannot report it itself.
"""

from enum import StrEnum
from itertools import count

import msgspec

from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script

#: A node or worker not heard of for this long is lost, whatever its last state was.
LOST_MS = 10_000
#: How long a lost node is listed.
FORGET_MS = 24 * 3_600_000
#: Beats between two checks for nodes to forget.
FORGET_BEATS = 60


class NodeState(StrEnum):
    RUNNING = "running"
    #: It starts no workers and waits for its running ones to end.
    DRAINING = "draining"
    DRAINED = "drained"
    #: It was not heard of for a while.
    LOST = "lost"


class NodeCommand(StrEnum):
    """What a node has been told to do; without a command it runs."""

    DRAIN = "drain"
    STOP = "stop"


class NodeJobState(StrEnum):
    """The state of a job on a node."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    #: Its workers have ended by themselves.
    ENDED = "ended"
    #: It has given up, until the job is started again.
    FAILED = "failed"


class NodeJobStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a node reports about a job that it serves."""

    state: NodeJobState
    #: The start of the job that this refers to.
    starts: int = 0
    workers: int = 0
    #: Why it ended or failed.
    reason: str = ""


class NodeStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a node reports about itself."""

    host: str = ""
    pid: int = 0
    state: NodeState = NodeState.RUNNING
    cores: int = 0
    #: Workers that it starts for each job.
    processes: int = 0
    #: CPU time in use on the whole machine, as a share.
    cpu_share: float = 0.0
    memory_bytes: int = 0
    memory_total_bytes: int = 0
    #: Runnable processes, averaged over a minute.
    load: float = 0.0
    pages: int = 0
    pages_per_s: float = 0.0
    errors: int = 0
    #: Workers that died and were replaced.
    deaths: int = 0
    #: The jobs that it serves, by name.
    jobs: dict[str, NodeJobStatus] = {}
    version: str = ""
    started_at_ms: int = 0


class Node(msgspec.Struct, frozen=True):
    """A node as others see it."""

    name: str
    instance: str
    heard_ago_ms: int
    status: NodeStatus

    @property
    def is_lost(self) -> bool:
        return self.heard_ago_ms >= LOST_MS

    @property
    def state(self) -> NodeState:
        return NodeState.LOST if self.is_lost else self.status.state


class Beat(msgspec.Struct, frozen=True, array_like=True):
    """Blob: the status."""

    name: str
    instance: str
    lost_ms: int
    forget_ms: int


class Beaten(msgspec.Struct, frozen=True, array_like=True):
    #: When another node of this name was last heard of; 0: there is none.
    rival_at_ms: int
    is_new: bool
    forgotten: list[str]


BEAT = Script("weft.cluster.lua", ("beat",), NoConfig, Beat, Beaten)
NODES = Script("weft.cluster.lua", ("nodes",), NoConfig, NoConfig, int)


class Nodes:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._client.know({script.sha: script.source for script in (BEAT, NODES)})
        self._beats = count()

    async def beat(
        self, name: str, instance: str, status: NodeStatus
    ) -> tuple[Beaten, NodeCommand | None]:
        """Report that this node is alive; return its command, if any."""
        forget_ms = 0 if next(self._beats) % FORGET_BEATS else FORGET_MS
        call = Beat(name, instance, LOST_MS, forget_ms)
        beat = BEAT.call(keys.NODES, NO_CONFIG, call, [msgspec.msgpack.encode(status)])
        raw, command = await self._client.run([beat, ("HGET", keys.NODE_COMMANDS, name)])
        beaten = BEAT.read(raw)
        if beaten.forgotten:
            await self._client.run([("HDEL", keys.NODE_COMMANDS, *beaten.forgotten)])
        if beaten.is_new and command == NodeCommand.STOP.encode():  # meant for the agent before us
            await self.withdraw(name)
            command = None
        return beaten, NodeCommand(command.decode()) if command else None

    async def leave(self, name: str) -> None:
        """Remove the node and its command."""
        await self._client.run([("HDEL", key, name) for key in (keys.NODES, keys.NODE_COMMANDS)])

    async def all(self) -> list[Node]:
        """Return all nodes, sorted by name."""
        [reply] = await self._client.run([NODES.call(keys.NODES, NO_CONFIG, NoConfig())])
        now_ms, blobs = NODES.read_with_blobs(reply)
        nodes = []
        for name, record in zip(blobs[::2], blobs[1::2], strict=True):
            instance, heard_at_ms, packed = record.split(b" ", 2)
            age_ms = max(0, now_ms - int(heard_at_ms))
            status = msgspec.msgpack.decode(packed, type=NodeStatus)
            nodes.append(Node(name.decode(), instance.decode(), age_ms, status))
        return sorted(nodes, key=lambda node: node.name)

    async def tell(self, name: str, command: NodeCommand) -> None:
        await self._client.run([("HSET", keys.NODE_COMMANDS, name, command.value)])

    async def withdraw(self, name: str) -> None:
        """Withdraw its command: let the node run again."""
        await self._client.run([("HDEL", keys.NODE_COMMANDS, name)])

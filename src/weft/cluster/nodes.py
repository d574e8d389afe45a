"""The nodes of a store: machines whose agents say every second that they are there.

A name belongs to one agent at a time. One that is not heard of is lost: whoever looks computes that
from when it was last heard of, by Redis' own clock, for the lost cannot say it themselves.
"""

from enum import StrEnum
from itertools import count

import msgspec

from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script

#: A node or worker that was not heard of for so long is lost, whatever it said last.
LOST_MS = 10_000
#: A lost node is listed for so long.
FORGET_MS = 24 * 3_600_000
#: So many beats between two looks who is to be forgotten.
FORGET_BEATS = 60


class NodeState(StrEnum):
    RUNNING = "running"
    #: It starts no workers and waits for the end of those that it has.
    DRAINING = "draining"
    DRAINED = "drained"
    #: It was not heard of for a while.
    LOST = "lost"


class NodeOrder(StrEnum):
    """What a node is told to do; nothing: to run."""

    DRAIN = "drain"
    STOP = "stop"


class DutyState(StrEnum):
    """How a node gets on with a job."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    #: Its workers have ended by themselves.
    ENDED = "ended"
    #: It has given up, until the job is started again.
    FAILED = "failed"


class DutyStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a node tells about a job that it serves."""

    state: DutyState
    #: Which start of the job this is about.
    starts: int = 0
    workers: int = 0
    #: Why it has ended or failed.
    reason: str = ""


class NodeStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a node tells about itself."""

    host: str = ""
    pid: int = 0
    state: NodeState = NodeState.RUNNING
    cores: int = 0
    #: Workers that it starts for each job.
    processes: int = 0
    #: CPU time of the whole machine that is in use, as a share.
    cpu_share: float = 0.0
    memory_bytes: int = 0
    memory_total_bytes: int = 0
    #: Processes that want to run, on average over a minute.
    load: float = 0.0
    pages: int = 0
    pages_per_s: float = 0.0
    errors: int = 0
    #: Workers that have died and were replaced.
    deaths: int = 0
    #: The jobs that it serves, by name.
    jobs: dict[str, DutyStatus] = {}
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
    #: When another node of this name was heard of; 0: there is none.
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
    ) -> tuple[Beaten, NodeOrder | None]:
        """Say that this node is there; what it is to do."""
        forget_ms = 0 if next(self._beats) % FORGET_BEATS else FORGET_MS
        call = Beat(name, instance, LOST_MS, forget_ms)
        beat = BEAT.call(keys.NODES, NO_CONFIG, call, [msgspec.msgpack.encode(status)])
        raw, order = await self._client.run([beat, ("HGET", keys.NODE_ORDERS, name)])
        beaten = BEAT.read(raw)
        if beaten.forgotten:
            await self._client.run([("HDEL", keys.NODE_ORDERS, *beaten.forgotten)])
        if beaten.is_new and order == NodeOrder.STOP.encode():  # meant for one before us
            await self.withdraw(name)
            order = None
        return beaten, NodeOrder(order.decode()) if order else None

    async def leave(self, name: str) -> None:
        """Say goodbye."""
        await self._client.run([("HDEL", key, name) for key in (keys.NODES, keys.NODE_ORDERS)])

    async def all(self) -> list[Node]:
        """By name."""
        [reply] = await self._client.run([NODES.call(keys.NODES, NO_CONFIG, NoConfig())])
        now_ms, blobs = NODES.read_with_blobs(reply)
        nodes = []
        for name, record in zip(blobs[::2], blobs[1::2], strict=True):
            instance, heard_at_ms, packed = record.split(b" ", 2)
            age_ms = max(0, now_ms - int(heard_at_ms))
            status = msgspec.msgpack.decode(packed, type=NodeStatus)
            nodes.append(Node(name.decode(), instance.decode(), age_ms, status))
        return sorted(nodes, key=lambda node: node.name)

    async def tell(self, name: str, order: NodeOrder) -> None:
        await self._client.run([("HSET", keys.NODE_ORDERS, name, order.value)])

    async def withdraw(self, name: str) -> None:
        """Let a node run again."""
        await self._client.run([("HDEL", keys.NODE_ORDERS, name)])

"""Real Redis servers for tests: one alone, a cluster, a pair with sentinels.

Each is a process on a free port of loopback with a temporary directory, and dies with the process
that started it.
"""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import redis
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.retry import Retry

from launchers.server import HOST, WAIT_S, Server
from weft.errors import ConfigError, WeftError
from weft.redis.server import find_server, packaged_server
from weft.testing.waiting import wait_until

#: Without it, redis-py looks its version up for each connection.
_DRIVER = DriverInfo()
#: The name of the pair in the sentinels.
MASTER_NAME = "mymaster"

SLOTS = 16_384
NODE_TIMEOUT_MS = 5_000
#: After this long without a reply a sentinel considers a server dead.
DOWN_AFTER_MS = 1_000
FAILOVER_TIMEOUT_MS = 1_000
#: How often a sentinel polls and talks, far more often than by default. It does not trust data
#: older than five times its ping period.
SENTINEL_PERIODS_MS = {
    "ping-period": 200,
    "info-period": 100,
    "publish-period": 100,
    "ask-period": 100,
    "tilt-period": 1_000,
}


def redis_binary() -> Path | None:
    """The Redis of this machine, if there is one."""
    found = shutil.which("redis-server")
    return Path(found) if found else None


def valkey_binary() -> Path | None:
    """The Valkey of this machine or of `weft[server]`, if there is one."""
    found = shutil.which("valkey-server")
    return Path(found) if found else packaged_server()


class _Server(Server):
    """`binary`: a program, or None for the one of this machine."""

    def __init__(self, binary: str | Path | None) -> None:
        super().__init__()
        self._binary = binary

    def _find_program(self) -> None:
        self._binary = _program(self._binary)

    def client(self) -> redis.Redis:
        """A client for the commands of tests; it does not retry. Close it."""
        return redis.Redis(
            HOST,
            self.port,
            decode_responses=True,
            socket_timeout=WAIT_S,
            retry=Retry(NoBackoff(), 0),
            driver_info=_DRIVER,
        )

    def ask(self, *command: str | int) -> Any:
        """Return the reply to one command, on its own connection."""
        with self.client() as client:
            return client.execute_command(*command)

    def _is_ready(self) -> bool:
        try:
            with self.client() as client:
                client.ping()
                return bool(client.info("server")["process_id"] == self.pid)
        except redis.RedisError:
            return False


class RedisServer(_Server):
    """A Redis or Valkey while the context is open: `binary`, or the one of this machine.

    `durable`: it writes before it replies. Otherwise, with `appendfsync everysec` as users have it,
    it may delay the write while an fsync is running, and loses the last moment if it is killed
    then. `extra` are further command line options. If `replica_of` is set, it copies that server
    from its next start on.
    """

    def __init__(
        self,
        binary: str | Path | None = None,
        *,
        appendonly: bool = True,
        durable: bool = False,
        maxmemory: str | None = None,
        extra: Sequence[str] = (),
    ) -> None:
        super().__init__(binary)
        self._appendonly = appendonly
        self._durable = durable
        self._maxmemory = maxmemory
        self._extra = extra
        self.replica_of: RedisServer | None = None

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def _command(self) -> list[str]:
        options = ["--bind", HOST, "--port", str(self.port), "--dir", str(self._directory)]
        options += ["--save", "", "--appendonly", "yes" if self._appendonly else "no"]
        if self._durable:
            options += ["--appendfsync", "always"]
        if self._maxmemory:
            options += ["--maxmemory", self._maxmemory]
        if self.replica_of:
            options += ["--replicaof", HOST, str(self.replica_of.port)]
        return [str(self._binary), *options, *self._extra]


class RedisCluster:
    """A cluster of masters that share the slots evenly; there are no replicas."""

    def __init__(self, nodes: int = 3, binary: str | Path | None = None) -> None:
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT_MS)]
        self.nodes = [RedisServer(binary, extra=options) for _ in range(nodes)]
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node)
            self._share_slots()
            self._introduce()
            self.wait_until_ok()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def url(self) -> str:
        return f"redis+cluster://{HOST}:{self.nodes[0].port}"

    def wait_until_ok(self) -> None:
        """Wait until every node knows all others and reports that the cluster is ok."""
        wait_until(lambda: all(map(self._is_ok, self.nodes)), "every node says cluster_state:ok")

    def _share_slots(self) -> None:
        bounds = [SLOTS * number // len(self.nodes) for number in range(len(self.nodes) + 1)]
        for number, node in enumerate(self.nodes):
            # ADDSLOTSRANGE would be shorter, but needs Redis 7.
            node.ask("CLUSTER", "ADDSLOTS", *range(bounds[number], bounds[number + 1]))
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)

    def _introduce(self) -> None:
        for node in self.nodes:
            for other in self.nodes:
                if other is not node:
                    node.ask("CLUSTER", "MEET", HOST, other.port)

    def _is_ok(self, node: RedisServer) -> bool:
        try:
            lines = str(node.ask("CLUSTER", "INFO")).split()
        except redis.RedisError:
            return False
        return {"cluster_state:ok", f"cluster_known_nodes:{len(self.nodes)}"} <= set(lines)


class _Sentinel(_Server):
    """Watches `master`; talks to the other sentinels through it."""

    def __init__(self, binary: str | Path | None, master: RedisServer, quorum: int) -> None:
        super().__init__(binary)
        self._master = master
        self._quorum = quorum

    def start(self) -> None:
        super().start()
        # Redis 6.2 does not have this, and takes longer.
        with suppress(redis.ResponseError):
            for name, period_ms in SENTINEL_PERIODS_MS.items():
                self.ask("SENTINEL", "DEBUG", name, period_ms)

    def master_port(self) -> int:
        _, port = self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)
        return int(port)

    def is_content(self, replicas: int, others: int) -> bool:
        """Whether it knows them all and could replace the master."""
        with self.client() as client:
            master = client.sentinel_master(MASTER_NAME)
            copies = client.sentinel_slaves(MASTER_NAME)
        healthy = [each for each in copies if _is_healthy(each)]
        return bool(
            master["flags"] == "master"
            and master["num-other-sentinels"] == others
            and len(healthy) == len(copies) == replicas
        )

    def _command(self) -> list[str]:
        file = self._directory / "sentinel.conf"
        # It stores its state in this file.
        if not file.exists():
            file.write_text(self._configuration())
        return [str(self._binary), str(file), "--sentinel"]

    def _configuration(self) -> str:
        return (
            f"bind {HOST}\n"
            f"port {self.port}\n"
            f"dir {self._directory}\n"
            f"sentinel monitor {MASTER_NAME} {HOST} {self._master.port} {self._quorum}\n"
            f"sentinel down-after-milliseconds {MASTER_NAME} {DOWN_AFTER_MS}\n"
            f"sentinel failover-timeout {MASTER_NAME} {FAILOVER_TIMEOUT_MS}\n"
        )


class RedisSentinel:
    """A master and its replica, and sentinels that replace one with the other.

    A failover loses what the replica does not have yet, as in production: call `wait_for_replica`
    first to avoid that.
    """

    def __init__(self, binary: str | Path | None = None, *, sentinels: int = 1) -> None:
        # Redis would wait some seconds for further replicas before it sends its data.
        at_once = ["--repl-diskless-sync-delay", "0"]
        self._servers = [RedisServer(binary, extra=at_once) for _ in range(2)]
        self._servers[1].replica_of = self._servers[0]
        quorum = sentinels // 2 + 1
        self._sentinels = [_Sentinel(binary, self._servers[0], quorum) for _ in range(sentinels)]
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for server in (*self._servers, *self._sentinels):
                stack.enter_context(server)
            self._wait_until_content()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def url(self) -> str:
        places = ",".join(f"{HOST}:{sentinel.port}" for sentinel in self._sentinels)
        return f"redis+sentinel://{places}/{MASTER_NAME}/0"

    @property
    def master(self) -> RedisServer:
        """The master according to the first sentinel."""
        port = self._sentinels[0].master_port()
        return next(server for server in self._servers if server.port == port)

    @property
    def replica(self) -> RedisServer:
        master = self.master
        return next(server for server in self._servers if server is not master)

    def wait_for_replica(self) -> None:
        """Wait until the replica has everything that was written before."""
        with self.master.client() as client:
            # WAIT only considers the last write of its own connection. This one leaves nothing.
            client.pipeline().set("weft:wait", "").delete("weft:wait").execute()
            if not client.wait(1, int(WAIT_S * 500)):
                raise WeftError(f"the replica did not follow within {WAIT_S / 2} s")

    def fail_over(self) -> None:
        """Kill the master; return when the other is master and the killed one its replica."""
        killed, promoted = self.master, self.replica
        killed.kill()
        wait_until(lambda: self._is_master(promoted), "the sentinels have named another master")
        # As a replica from the start: nobody must write to it now.
        killed.replica_of, promoted.replica_of = promoted, None
        killed.start()
        self._wait_until_content()

    def _is_master(self, server: RedisServer) -> bool:
        if {sentinel.master_port() for sentinel in self._sentinels} != {server.port}:
            return False
        return bool(server.ask("ROLE")[0] == "master")

    def _wait_until_content(self) -> None:
        others = len(self._sentinels) - 1
        wait_until(
            lambda: all(each.is_content(replicas=1, others=others) for each in self._sentinels),
            "the sentinels know each other and a replica that could be master",
        )


def _is_healthy(replica: dict[str, Any]) -> bool:
    return bool(replica["flags"] == "slave" and replica["master-link-status"] == "ok")


def _program(binary: str | Path | None) -> Path:
    if binary is None:
        return find_server()
    # A name without a directory is looked up in PATH, as in a shell.
    found = shutil.which(binary)
    if found is None:
        raise ConfigError(f"there is no server program {binary}: install it, or name another")
    return Path(found).absolute()

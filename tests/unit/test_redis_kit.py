"""The servers of the test kit do what they are trusted with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
import redis

from launchers.redis import (
    RedisCluster,
    RedisSentinel,
    RedisServer,
    redis_binary,
    valkey_binary,
)
from weft.errors import ConfigError, WeftError
from weft.testing.waiting import wait_until

HOLD = """
import sys, time
from launchers.redis import RedisServer
with RedisServer(sys.argv[1]) as server:
    print(server.pid, flush=True)
    server.stop()
    time.sleep(100)
"""


@pytest.fixture(params=[redis_binary, pytest.param(valkey_binary, marks=pytest.mark.long)])
def binary(request: pytest.FixtureRequest) -> Path:
    found: Path | None = request.param()
    if found is None:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"{request.param.__name__} found none on this machine")
    return found


def is_alive(pid: int) -> bool:
    # What has ended and was not collected yet has no command line.
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_killed_server_comes_back_with_its_data(binary: Path) -> None:
    with RedisServer(binary) as server:
        url, pid = server.url, server.pid
        server.ask("SET", "a", 1)
        server.kill()
        assert not is_alive(pid)
        with pytest.raises(redis.ConnectionError):
            server.ask("PING")
        server.start()
        assert server.url == url
        assert server.ask("GET", "a") == "1"


def test_server_without_a_file_forgets(binary: Path) -> None:
    with RedisServer(binary, appendonly=False) as server:
        server.ask("SET", "a", 1)
        server.kill()
        server.start()
        assert server.ask("GET", "a") is None


def test_stopped_server_says_nothing_until_it_goes_on(binary: Path) -> None:
    with RedisServer(binary) as server:
        server.stop()
        with redis.Redis.from_url(server.url, socket_timeout=0.1, retry=None) as client:
            with pytest.raises(redis.TimeoutError):
                client.ping()
            server.cont()
            assert client.ping()


def test_memory_can_be_limited(binary: Path) -> None:
    with RedisServer(binary, maxmemory="4mb") as server, pytest.raises(redis.OutOfMemoryError):
        server.ask("SET", "big", "x" * 5_000_000)


def test_server_that_was_started_by_a_thread_outlives_it(binary: Path) -> None:
    with RedisServer(binary) as server:
        server.kill()
        thread = Thread(target=server.start)
        thread.start()
        thread.join()
        # It would not end at once.
        time.sleep(0.1)
        assert server.ask("PING")


def test_server_dies_with_a_killed_process_even_if_stopped(binary: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(binary)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), description="the server is gone")


def test_server_that_cannot_start_says_why(binary: Path) -> None:
    server = RedisServer(binary, extra=["--no-such-option", "1"])
    with pytest.raises(WeftError, match="no-such-option"), server:
        pass


def test_missing_program_is_named() -> None:
    with pytest.raises(ConfigError, match="no-such-server"), RedisServer("no-such-server"):
        pass


def test_server_that_does_not_run_has_no_port_and_no_pid() -> None:
    server = RedisServer()
    with pytest.raises(WeftError, match="use `with`"):
        _ = server.url
    with pytest.raises(WeftError, match="not running"):
        server.stop()


def test_server_that_runs_is_not_started_twice(binary: Path) -> None:
    with RedisServer(binary) as server:
        with pytest.raises(WeftError, match="kill it first"):
            server.start()
        assert server.ask("PING")


def keys_per_node(cluster: RedisCluster) -> list[int]:
    return [node.ask("DBSIZE") for node in cluster.nodes]


def test_every_node_of_a_cluster_takes_keys_and_comes_back_with_them(binary: Path) -> None:
    with RedisCluster(binary=binary) as cluster:
        port = int(cluster.url.removeprefix("redis+cluster://127.0.0.1:"))
        with redis.RedisCluster("127.0.0.1", port) as client:
            for number in range(50):
                client.set(f"key{number}", 1)
        before = keys_per_node(cluster)
        assert sum(before) == 50
        assert all(before)
        cluster.nodes[1].kill()
        cluster.nodes[1].start()
        cluster.wait_until_ok()
        assert keys_per_node(cluster) == before


def check_two_failovers(pair: RedisSentinel) -> None:
    masters = [pair.master]
    for key in ("first", "second"):
        pair.master.ask("SET", key, 1)
        pair.wait_for_replica()
        assert pair.replica.ask("GET", key) == "1"
        pair.fail_over()
        masters.append(pair.master)
        assert pair.replica.ask("ROLE")[0] == "slave"
    assert masters[0] is masters[2] is not masters[1]
    assert set(pair.master.ask("KEYS", "*")) == {"first", "second"}


def test_sentinel_fails_over_twice_and_keeps_what_was_replicated(binary: Path) -> None:
    with RedisSentinel(binary) as pair:
        check_two_failovers(pair)


@pytest.mark.parametrize("binary", [redis_binary], indirect=True)
def test_three_sentinels_agree(binary: Path) -> None:
    with RedisSentinel(binary, sentinels=3) as pair:
        assert pair.url.count(",") == 2
        check_two_failovers(pair)

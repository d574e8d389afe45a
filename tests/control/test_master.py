"""`weft master` as a process: how it starts, ends, and what happens when something is missing."""

import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from launchers.redis import RedisServer
from masters import Asker, MasterProcess, asking, check_problem, master, new_token
from running import Python, Weft
from weft.testing.waiting import wait_until


def health(address: str) -> int:
    return httpx.get(f"{address}/health").status_code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(running_master: MasterProcess, number: int, ask: Asker) -> None:
    ask.get("/jobs")  # the connection stays
    since_s = time.monotonic()
    running_master.send(number)
    code, out, err = running_master.ended()
    assert time.monotonic() - since_s < 5
    assert (code, out) == (0, "")
    assert err.splitlines()[1:] == ["The master has ended."]


def test_a_request_that_is_under_way_is_answered_before_it_ends(
    running_master: MasterProcess, ask: Asker, redis_server: RedisServer
) -> None:
    ask.get("/jobs")
    redis_server.ask("CLIENT", "PAUSE", 1_500, "ALL")
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, "GET", "/jobs")
        time.sleep(0.5)  # it has come in
        running_master.send(signal.SIGTERM)
        assert answer.result().status_code == 200
    assert running_master.ended()[0] == 0


def test_the_first_token_is_made_once_and_shown_once(weft: Weft, redis_server: RedisServer) -> None:
    with master(weft, redis_server.url) as first, master(weft, redis_server.url) as second:
        for each in (first, second):
            each.send(signal.SIGTERM)
        (_, token, said), (code, nothing, _) = first.ended(), second.ended()
    assert "This one has the scope admin" in said
    assert (code, nothing) == (0, "")
    with (
        master(weft, redis_server.url) as third,
        asking(third.address, token.strip()) as asker,
    ):
        assert asker.status("GET", "/audit") == 200


def test_a_killed_master_is_replaced_and_keeps_nothing_from_others(
    weft: Weft, redis_server: RedisServer, running_master: MasterProcess, tokens: dict[str, str]
) -> None:
    board = {"name": "news", "entries": ["https://example.org/"]}
    bind = running_master.address.removeprefix("http://")
    with asking(running_master.address, tokens["write"]) as asker:
        assert asker("PUT", "/jobs/boards/boards/news", json=board).status_code == 201
        etag = asker("GET", "/jobs/boards/boards/news").headers["etag"]
        running_master.process.kill()
        running_master.process.communicate()
        with master(weft, redis_server.url, bind) as again:
            assert again.address == running_master.address
            assert asker("GET", "/jobs/boards/boards/news").headers["etag"] == etag
            assert asker.status("POST", "/jobs/boards/boards/news/pause") == 204


def test_masters_are_peers(
    weft: Weft, redis_server: RedisServer, ask: Asker, tokens: dict[str, str]
) -> None:
    board = {"name": "news", "entries": ["https://example.org/"]}
    added = ask("PUT", "/jobs/boards/boards/news", json=board)
    with master(weft, redis_server.url) as other, asking(other.address, tokens["read"]) as asker:
        found = asker("GET", "/jobs/boards/boards/news")
        assert found.headers["etag"] == added.headers["etag"]


def test_while_the_store_is_away_this_is_told(
    running_master: MasterProcess, ask: Asker, redis_server: RedisServer
) -> None:
    ask.get("/jobs")
    redis_server.kill()
    try:
        told = check_problem(ask("GET", "/jobs"), 503)
        assert "does not answer" in told["detail"]
        assert health(running_master.address) == 200
    finally:
        redis_server.start()
    wait_until(lambda: ask.status("GET", "/jobs") == 200, description="it answers again")


# Where it listens


def test_it_listens_to_the_network_only_if_there_is_a_token(
    weft: Weft, redis_server: RedisServer
) -> None:
    refused = weft("master", "--store", redis_server.url, "--bind", "0.0.0.0:0")
    assert refused.returncode == 1
    assert "weft token create NAME --scope admin" in refused.stderr
    new_token(weft, redis_server.url, "any", "read")
    with master(weft, redis_server.url, "0.0.0.0:0") as running:
        assert health(running.address) == 200


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_it_listens_on_ipv6(weft: Weft, redis_server: RedisServer) -> None:
    with master(weft, redis_server.url, "[::1]:0") as running:
        assert running.address.startswith("http://[::1]:")
        assert health(running.address) == 200


@pytest.mark.parametrize(
    "bind", ["8900", ":8900", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "no.such.invalid:1"]
)
def test_an_address_that_is_none_is_told(weft: Weft, redis_server: RedisServer, bind: str) -> None:
    ended = weft("master", "--store", redis_server.url, "--bind", bind)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"weft: --bind {bind}: ")
    assert "127.0.0.1:8900" in ended.stderr


def test_a_port_that_is_taken_is_told(weft: Weft, redis_server: RedisServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = weft("master", "--store", redis_server.url, "--bind", bind)
    assert ended.returncode == 1
    assert "name an address of this machine and a port that is free" in ended.stderr


# What it needs


def test_without_the_extra_the_cure_is_told(weft: Weft) -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None; from weft.cli import main; "
        "sys.argv = ['weft', 'master', '--store', 'redis://localhost']; main()"
    )
    ended = Python(weft.directory)("-c", code)
    assert ended.returncode == 1
    assert ended.stderr == "weft: weft master needs fastapi: pip install 'weft[control]'\n"


def test_an_answer_does_not_wait_for_the_one_before(ask: Asker) -> None:
    """As it would without TCP_NODELAY: 40 ms each."""
    took_s = []
    for _ in range(20):
        since_s = time.monotonic()
        ask("GET", "/board-schema")
        took_s.append(time.monotonic() - since_s)
    assert sorted(took_s)[5] < 0.03


def test_an_embedded_store_is_refused(weft: Weft) -> None:
    ended = weft("master", "--store", "rocks://here")
    assert ended.returncode == 1
    assert "name one that nodes can share" in ended.stderr


def test_a_store_that_is_not_there_is_told(weft: Weft) -> None:
    ended = weft("master", "--store", "redis://127.0.0.1:1/0", "--bind", "127.0.0.1:0")
    assert ended.returncode == 1
    assert "does not answer" in ended.stderr

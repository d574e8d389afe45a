"""How Weft's HTTP handler uses connections: as few as it can, as long as they last."""

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from certificates import server_context
from rawserver import RawServer, Script
from weft.engine.http.arrival import Arrival
from weft.engine.http.connection import Connection
from weft.engine.http.connector import Connector
from weft.engine.http.dispatch import Route
from weft.engine.http.exchange import Exchange
from weft.engine.http.handler import HttpHandler
from weft.engine.http.origin import origin_of
from weft.engine.http.parser import AnswerParser
from weft.engine.http.pool import Pool
from weft.engine.http.resolver import HostResolver
from weft.engine.politeness import stops
from weft.engine.politeness.stops import CUT_S, Stops, cut_all, cut_unsent
from weft.testing.waiting import until, wait_until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SCRIPTS = {
    "page": Script([OK]),
    "close": Script([OK], "close"),
    "unasked": Script([OK, b"HTTP/1.1 408 Too Late\r\n\r\n"], "hang"),
    "nothing": Script([], "close"),
    "hang": Script([], "hang"),
    "nothing-then-hang": Script([], "close", later=Script([], "hang")),
    "nothing-then-page": Script([], "close", later=Script([OK])),
    "half": Script([OK[:-1]], "hang"),
    "early": Script([OK], "deaf", is_early=True),
    "deaf": Script([], "deaf", is_early=True),
    "endless": Script([b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65536] * 10_000], "close"),
}
TIMEOUT_S = 10.0
#: More than the buffers of the sockets take.
LARGE = b"x" * 30_000_000


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer(SCRIPTS) as started:
        yield started


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    wait_until(lambda: not stops.is_cutting(), description="the cuts of other tests are over")
    yield
    assert not stops.cuttables


@asynccontextmanager
async def open_handler(**settings: Any) -> AsyncIterator[HttpHandler]:
    handler = HttpHandler.from_crawler(get_crawler(Spider, settings))
    try:
        yield handler
    finally:
        await handler.close()


async def is_closed(server: RawServer, number: int = 0) -> bool:
    return await asyncio.to_thread(server.visits[number].is_closed.wait, 10)


# Keeping


async def test_requests_one_after_the_other_share_a_connection(server: RawServer) -> None:
    async with open_handler() as handler:
        for _ in range(3):
            assert (await handler.download_request(Request(f"{server.url}page"))).body == b"ok"
    assert [len(visit.requests) for visit in server.visits] == [3]


async def test_requests_at_the_same_time_have_one_each_and_the_last_is_used_again(
    server: RawServer,
) -> None:
    async with open_handler() as handler:
        get = handler.download_request
        await asyncio.gather(*(get(Request(f"{server.url}page")) for _ in range(3)))
        before = {id(visit): len(visit.requests) for visit in server.visits}
        assert list(before.values()) == [1, 1, 1]
        for _ in range(3):
            await get(Request(f"{server.url}page"))
    assert sorted(len(visit.requests) for visit in server.visits) == [1, 1, 4]


async def test_what_was_fetched_leaves_nothing_to_the_garbage_collector(server: RawServer) -> None:
    async with open_handler() as handler:
        gc.collect()
        gc.disable()
        try:
            for path in ("page", "close"):
                assert (await handler.download_request(Request(f"{server.url}{path}"))).body
            left = [
                each
                for each in gc.get_objects()
                if isinstance(each, Exchange | Arrival | AnswerParser)
            ]
        finally:
            gc.enable()
        assert left == []


async def test_another_host_has_a_connection_of_its_own(server: RawServer) -> None:
    async with open_handler() as handler:
        for host in ("127.0.0.1", "localhost"):
            await handler.download_request(Request(f"http://{host}:{server.port}/page"))
    assert len(server.visits) == 2


async def test_a_request_can_be_sent_from_an_address_of_its_own(server: RawServer) -> None:
    async with open_handler(DOWNLOAD_BIND_ADDRESS="127.0.0.2") as handler:
        for meta in ({}, {"bindaddress": "127.0.0.3"}, {"bindaddress": ("127.0.0.3", 0)}):
            await handler.download_request(Request(f"{server.url}page", meta=meta))
    assert [visit.client for visit in server.visits] == ["127.0.0.2", "127.0.0.3"]


@pytest.mark.parametrize("path", ["close", "unasked"])
async def test_a_connection_that_the_server_is_done_with_is_not_used_again(
    server: RawServer, path: str
) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}{path}"))
        await is_closed(server)
        await until(lambda: not stops.cuttables, "the handler has noticed")
        await handler.download_request(Request(f"{server.url}page"))
    assert [len(visit.requests) for visit in server.visits] == [1, 1]


async def test_a_connection_is_closed_at_the_end(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        assert not server.visits[0].is_closed.is_set()
        await handler.close()
        assert await is_closed(server)


def make_resolver(look_up: Callable[[str], list[str]] = lambda host: []) -> HostResolver:
    return HostResolver(cache_size=10, timeout_s=10, threads=2, look_up=look_up)


async def connect(
    pool: Pool, resolver: HostResolver, netloc: str, timeout_s: float = TIMEOUT_S
) -> Connection:
    origin = origin_of("http", netloc)
    assert origin is not None
    connector = Connector(resolver, pool, lambda: pytest.fail("no TLS is wanted"))
    until_s = asyncio.get_running_loop().time() + timeout_s
    return await connector.connect(Route(origin, None), until_s)


async def add_idle(pool: Pool, server: RawServer) -> None:
    """One that waits for its first request."""
    before = len(server.visits)
    pool.note_idle(await connect(pool, make_resolver(), f"127.0.0.1:{server.port}"))
    await until(lambda: len(server.visits) > before, "it is connected")


async def test_a_connection_that_nobody_uses_is_closed_after_a_while(server: RawServer) -> None:
    pool = Pool(idle_s=0.05)
    await add_idle(pool, server)
    assert await is_closed(server)
    await pool.close()


async def test_of_too_many_connections_that_nobody_uses_the_oldest_is_closed(
    server: RawServer,
) -> None:
    pool = Pool(max_idle=2)
    for _ in range(3):
        await add_idle(pool, server)
    assert await is_closed(server, 0)
    assert not server.visits[1].is_closed.is_set()
    await pool.close()


async def test_latency_counts_from_the_moment_of_sending(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From it the gate knows when the request really went out."""
    async with open_handler() as handler:
        connect = handler._connector.connect

        async def connect_slowly(route: Route, until_s: float) -> Connection:
            await asyncio.sleep(0.5)
            return await connect(route, until_s)

        monkeypatch.setattr(handler._connector, "connect", connect_slowly)
        request = Request(f"{server.url}page")
        await handler.download_request(request)
    assert 0 < request.meta["download_latency"] < 0.4


# Sending again


async def test_what_a_server_left_unanswered_on_a_used_connection_is_sent_again_once(
    server: RawServer,
) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        request = Request(f"{server.url}nothing")
        with pytest.raises(DownloadFailedError, match="before it had answered"):
            await handler.download_request(request)
    assert [len(visit.requests) for visit in server.visits] == [2, 1]
    # It counts as an attempt, so that nobody is asked more often than RETRY_TIMES says.
    assert request.meta["retry_times"] == 1


async def test_what_was_sent_twice_and_took_too_long_counts_as_an_attempt(
    server: RawServer,
) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        request = Request(f"{server.url}nothing-then-hang", meta={"download_timeout": 0.3})
        with pytest.raises(DownloadTimeoutError):
            await handler.download_request(request)
    assert [len(visit.requests) for visit in server.visits] == [2, 1]
    assert request.meta["retry_times"] == 1


async def test_what_was_sent_twice_and_is_answered_was_no_attempt(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        request = Request(f"{server.url}nothing-then-page")
        response = await handler.download_request(request)
    assert response.status == 200
    assert len(server.requests) == 3
    assert "retry_times" not in request.meta


async def test_a_retry_is_sent_once_because_it_gets_a_new_connection(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        retry = Request(f"{server.url}nothing", dont_filter=True, meta={"retry_times": 1})
        with pytest.raises(DownloadFailedError):
            await handler.download_request(retry)
    assert [len(visit.requests) for visit in server.visits] == [1, 1]


@pytest.mark.parametrize("ask", [{"method": "POST"}, {"method": "DELETE", "body": "x"}])
async def test_what_may_not_be_done_twice_is_not_sent_again(
    server: RawServer, ask: dict[str, Any]
) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        with pytest.raises(DownloadFailedError):
            await handler.download_request(Request(f"{server.url}nothing", **ask))
    assert [len(visit.requests) for visit in server.visits] == [2]


async def test_what_a_new_connection_left_unanswered_is_not_sent_again(server: RawServer) -> None:
    async with open_handler() as handler:
        with pytest.raises(DownloadFailedError):
            await handler.download_request(Request(f"{server.url}nothing"))
    assert len(server.requests) == 1


# Giving up


@pytest.mark.parametrize("path", ["hang", "half"])
async def test_what_takes_too_long_is_given_up_and_closed(server: RawServer, path: str) -> None:
    async with open_handler() as handler:
        url = f"{server.url}{path}"
        request = Request(f"{url}#part", meta={"download_timeout": 0.1})
        with pytest.raises(DownloadTimeoutError) as error:
            await handler.download_request(request)
        assert str(error.value) == f"Getting {url} took longer than 0.1 seconds."
        assert await is_closed(server)


async def test_the_setting_says_how_long_a_download_may_take(server: RawServer) -> None:
    async with open_handler(DOWNLOAD_TIMEOUT=0.1) as handler:
        with pytest.raises(DownloadTimeoutError):
            await handler.download_request(Request(f"{server.url}hang"))


async def test_a_download_that_is_cancelled_closes_its_connection(server: RawServer) -> None:
    async with open_handler() as handler:
        task = asyncio.ensure_future(handler.download_request(Request(f"{server.url}hang")))
        await until(lambda: bool(server.requests), "it is asked")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await is_closed(server)


async def test_a_page_that_is_too_large_is_not_read_to_its_end(server: RawServer) -> None:
    async with open_handler(DOWNLOAD_MAXSIZE=1_000_000) as handler:
        with pytest.raises(DownloadCancelledError, match="larger than download max size"):
            await handler.download_request(Request(f"{server.url}endless"))
        assert await is_closed(server)


async def test_an_answer_may_come_before_the_request_was_sent_fully(server: RawServer) -> None:
    async with open_handler() as handler:
        request = Request(f"{server.url}early", method="POST", body=LARGE)
        assert (await handler.download_request(request)).body == b"ok"
        server.may_read.set()
        assert await is_closed(server)


async def test_a_server_that_is_not_there_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    async with open_handler() as handler:
        with pytest.raises(DownloadConnectionRefusedError, match="refused by other side: 111"):
            await handler.download_request(Request(f"http://127.0.0.1:{port}/"))


async def test_a_host_that_does_not_exist_cannot_be_resolved() -> None:
    async with open_handler() as handler:
        for host in ("weft.invalid", "a" * 64 + ".test", "a..test"):
            with pytest.raises(CannotResolveHostError, match=host):
                await handler.download_request(Request(f"http://{host}/"))


# Addresses


async def address_of(resolver: HostResolver, server: RawServer) -> str:
    """Which one of its host was connected to."""
    pool = Pool()
    try:
        return str((await connect(pool, resolver, f"many.test:{server.port}")).ip_address)
    finally:
        await pool.close()


async def test_all_addresses_of_a_host_are_tried(server: RawServer) -> None:
    resolver = make_resolver(lambda host: ["127.0.0.9", "127.0.0.8", "127.0.0.1"])
    assert await address_of(resolver, server) == "127.0.0.1"
    resolver.close()


async def test_a_host_is_looked_up_again_if_none_of_its_addresses_answered(
    server: RawServer,
) -> None:
    answers = [["127.0.0.9"], ["127.0.0.1"]]
    resolver = make_resolver(lambda host: answers.pop(0))

    with pytest.raises(DownloadConnectionRefusedError):
        await address_of(resolver, server)
    assert await address_of(resolver, server) == "127.0.0.1"
    resolver.close()


async def test_an_address_where_nobody_answers_does_not_use_up_the_time(
    server: RawServer,
) -> None:
    resolver = make_resolver(lambda host: ["127.0.0.2", "127.0.0.3", "127.0.0.1"])
    loop = asyncio.get_running_loop()
    with crowded("127.0.0.2", server.port), crowded("127.0.0.3", server.port):
        begun_at_s = loop.time()
        assert await address_of(resolver, server) == "127.0.0.1"
        assert loop.time() - begun_at_s < TIMEOUT_S / 2
    # The one that answered is asked first from now on.
    assert (await resolver.addresses("many.test"))[0] == "127.0.0.1"
    resolver.close()


async def test_a_host_is_looked_up_again_if_nobody_answered_in_time(server: RawServer) -> None:
    answers = [["127.0.0.2"], ["127.0.0.1"]]
    resolver, pool = make_resolver(lambda host: answers.pop(0)), Pool()
    with crowded("127.0.0.2", server.port), pytest.raises(TimeoutError):
        await connect(pool, resolver, f"many.test:{server.port}", 0.1)
    assert await address_of(resolver, server) == "127.0.0.1"
    resolver.close()
    await pool.close()


@pytest.mark.parametrize("answer", ["nothing", "goodbye"])
async def test_an_address_without_tls_does_not_use_up_the_time(tmp_path: Path, answer: str) -> None:
    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer == "nothing":
            await reader.read()  # until the other side has had enough
        writer.close()

    resolver, pool = make_resolver(lambda host: ["127.0.0.2", "127.0.0.1"]), Pool()
    connector = Connector(resolver, pool, unverified)
    with RawServer(SCRIPTS, server_context(tmp_path)) as server:
        origin = origin_of("https", f"many.test:{server.port}")
        assert origin is not None
        async with await asyncio.start_server(welcome, "127.0.0.2", server.port):
            until_s = asyncio.get_running_loop().time() + 4
            connection = await connector.connect(Route(origin, None), until_s)
            await pool.close()
    assert str(connection.ip_address) == "127.0.0.1"
    resolver.close()


def unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


# Cutting off


async def under_way(handler: HttpHandler, request: Request) -> asyncio.Task[Response]:
    task = asyncio.ensure_future(handler.download_request(request))
    await asyncio.sleep(0)
    return task


@contextmanager
def watching() -> Iterator[Stops]:
    stops = Stops(lambda: True)
    stops.start()
    try:
        yield stops
    finally:
        stops.close()


async def test_what_waits_for_an_answer_is_cut_off_and_not_sent_again(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        task = await under_way(handler, Request(f"{server.url}hang"))
        await until(lambda: len(server.requests) == 2, "both are asked for")
        with watching() as stops:
            stops.cut()
        with pytest.raises(DownloadFailedError):
            await task
        assert await is_closed(server)
    assert len(server.requests) == 2


async def test_an_idle_connection_is_cut_off_too(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        cut_all()
        await handler.download_request(Request(f"{server.url}page"))
    assert [len(visit.requests) for visit in server.visits] == [1, 1]


async def test_nothing_is_sent_for_a_moment_after_a_cut(server: RawServer) -> None:
    async with open_handler() as handler:
        with watching() as stops:
            stops.cut()
            with pytest.raises(DownloadFailedError, match="cut off"):
                await handler.download_request(Request(f"{server.url}page"))
            await asyncio.sleep(CUT_S)
            await handler.download_request(Request(f"{server.url}page"))
    assert len(server.requests) == 1


async def test_what_was_sent_stays_when_only_the_unsent_is_cut_off(server: RawServer) -> None:
    async with open_handler() as handler:
        sent = await under_way(handler, Request(f"{server.url}hang"))
        await until(lambda: len(server.requests) == 1, "one is asked for")
        unsent = await under_way(handler, Request(f"{server.url}deaf", method="POST", body=LARGE))
        await until(lambda: len(server.requests) == 2, "both are asked for")
        cut_unsent()
        with pytest.raises(DownloadFailedError):
            await unsent
        assert not sent.done()
        sent.cancel()


async def test_what_looks_for_its_host_is_cut_off_at_once() -> None:
    may_answer = threading.Event()

    def look_up(host: str) -> list[str]:
        may_answer.wait(10)
        return ["127.0.0.1"]

    resolver, pool = make_resolver(look_up), Pool()
    task = asyncio.ensure_future(connect(pool, resolver, "slow.test"))
    await until(lambda: bool(stops.cuttables), "it waits for the address")
    cut_unsent()
    with pytest.raises(DownloadFailedError, match="cut off"):
        await task
    assert not may_answer.is_set()
    may_answer.set()
    resolver.close()


@contextmanager
def crowded(host: str = "127.0.0.1", port: int = 0) -> Iterator[socket.socket]:
    """A server whose queue is full: whoever connects now has to wait."""
    with socket.create_server((host, port), backlog=0) as listener, ExitStack() as stack:
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener


async def test_what_is_connecting_is_cut_off_at_once() -> None:
    async with open_handler() as handler:
        with crowded() as listener:
            task = await under_way(
                handler, Request(f"http://127.0.0.1:{listener.getsockname()[1]}")
            )
            await asyncio.sleep(0.05)
            assert not task.done()
            with watching() as stops:
                stops.cut()
            with pytest.raises(DownloadFailedError, match="cut off"):
                await task


async def test_what_began_before_a_cut_is_not_sent_after_it(server: RawServer) -> None:
    async with open_handler() as handler:
        task = await under_way(handler, Request(f"http://localhost:{server.port}/page"))
        with watching() as stops:
            stops.cut()
        with pytest.raises(DownloadFailedError, match="cut off"):
            await task
    assert server.requests == []


async def test_a_process_that_is_stopped_in_the_midst_of_sending_does_not_send_when_it_goes_on(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_cut_count() -> int:
        before = cut_count()
        if is_armed.is_set():
            cut_unsent()  # as SIGCONT does
        return before

    is_armed, cut_count = threading.Event(), stops.cut_count
    monkeypatch.setattr(stops, "cut_count", stopped_cut_count)
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        is_armed.set()
        with pytest.raises(DownloadFailedError):
            await handler.download_request(Request(f"{server.url}page", method="POST"))
    assert len(server.requests) == 1


async def test_nothing_is_sent_again_when_the_crawl_ends(server: RawServer) -> None:
    async with open_handler() as handler:
        await handler.download_request(Request(f"{server.url}page"))
        task = await under_way(handler, Request(f"{server.url}hang"))
        await until(lambda: len(server.requests) == 2, "both are asked for")
        await handler.close()
        with pytest.raises(DownloadFailedError):
            await task
    assert len(server.requests) == 2

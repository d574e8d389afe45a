"""Requests that are no claims: so many of a host at a time."""

import asyncio

import pytest
from scrapy import Request

from weft.engine.aside import Aside

pytestmark = pytest.mark.timeout(20)


def request() -> Request:
    return Request("http://a/")


async def test_no_more_enter_than_a_host_allows() -> None:
    aside = Aside()
    first, second, third, other = (request() for _ in range(4))
    await aside.enter(first, "a", 2)
    await aside.enter(second, "a", 2)
    await aside.enter(other, "b", 2)
    waiting = asyncio.ensure_future(aside.enter(third, "a", 2))
    await asyncio.sleep(0)
    assert not waiting.done()
    aside.leave(second)
    await waiting


async def test_hosts_that_nobody_asks_are_forgotten() -> None:
    aside = Aside()
    first, second = request(), request()
    await aside.enter(first, "a", 1)
    waiting = asyncio.ensure_future(aside.enter(second, "a", 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    aside.leave(first)
    aside.leave(first)
    aside.leave(second)  # it never entered
    assert not aside._hosts
    assert not aside._under_way

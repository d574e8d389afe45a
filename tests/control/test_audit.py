"""The audit log is bounded, and has an entry for each change that was begun."""

from collections.abc import AsyncIterator

import pytest

from launchers.redis import RedisServer
from servers import Kit
from weft.cluster import audit
from weft.cluster.audit import AuditLog
from weft.cluster.tokens import Tokens, TokenScope, find_token
from weft.redis.client import Client
from weft.services.tokens import make_token


@pytest.fixture
async def log(redis_server: RedisServer) -> AsyncIterator[AuditLog]:
    async with Client(redis_server.url) as client:
        yield AuditLog(client)


async def test_tokens_and_changes_are_kept_by_every_kind_of_redis(setup: Kit) -> None:
    async with Client(setup.url) as client:
        tokens, log = Tokens(client), AuditLog(client)
        text = await make_token(tokens, "ann", TokenScope.WRITE)
        assert text is not None
        assert await make_token(tokens, "ann", TokenScope.ADMIN) is None
        found = find_token(text, await tokens.all())
        assert found is not None
        assert (found.name, found.scope) == ("ann", TokenScope.WRITE)
        entries = [await log.begin("ann", f"POST /{number}") for number in range(3)]
        assert await log.entries(2) == [entries[2], entries[1]]
        assert await tokens.remove("ann")
        assert not await tokens.remove("ann")
        assert await tokens.all() == []


async def test_a_change_is_there_before_it_is_known_what_became_of_it(log: AuditLog) -> None:
    entry = await log.begin("ann", "POST /jobs")
    assert await log.entries(10) == [entry]
    assert (entry.number, entry.token, entry.status) == (1, "ann", None)
    assert entry.at_ms > 1_700_000_000_000
    await log.end(entry, 200, "it")
    [ended] = await log.entries(10)
    assert (ended.status, ended.job, ended.at_ms) == (200, "it", entry.at_ms)


async def test_only_the_latest_are_kept(
    log: AuditLog, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MAX_ENTRIES", 20)
    for _ in range(50):
        await log.begin("ann", "x" * 10_000)
    assert redis_server.ask("HLEN", "weft:audit") == 20
    found = await log.entries(100)
    assert [each.number for each in found] == list(range(50, 30, -1))
    assert len(found[0].what) == audit.MAX_WHAT
    assert [each.number for each in await log.entries(3, before=40)] == [39, 38, 37]
    assert await log.entries(3, before=31) == []


async def test_numbers_that_were_left_out_are_passed_over(
    log: AuditLog, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a reply that was lost."""
    monkeypatch.setattr(audit, "MAX_ENTRIES", 10)
    for _ in range(15):
        await log.begin("ann", "x")
        redis_server.ask("INCR", "weft:audit:last")
    found = await log.entries(4)
    assert [each.number for each in found] == [29, 27, 25, 23]
    assert redis_server.ask("HLEN", "weft:audit") <= 10

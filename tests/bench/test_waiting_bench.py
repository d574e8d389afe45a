"""The benchmark of pages that wait measures what it says."""

from pathlib import Path

import pytest

from launchers.redis import RedisServer


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


def test_pages_that_wait_are_measured(redis_server: RedisServer) -> None:
    from bench.waiting import WaitingScale, measure_waiting

    scale = WaitingScale(3_000, 50, rounds=3, claims=500, within_ms=5_000, most_bytes=None)
    told: list[str] = []

    rows = measure_waiting(redis_server, scale, told.append)

    assert len(rows) == 6 + 3
    assert [row for row in rows if row.weft <= 0] == []
    assert told
    assert redis_server.ask("DBSIZE") == 0

"""The benchmark of the frontier measures what it says, and notices what gets lost."""

from pathlib import Path

import pytest
from scrapy import Request

from launchers.redis import RedisServer

pytest.importorskip("scrapy_redis", reason="scrapy-redis is missing: make bench-frontier")


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    monkeypatch.setattr("bench.memory.LOOK_S", 0.01)


def test_both_contestants_are_measured(redis_server: RedisServer) -> None:
    from bench.frontier import Scale, measure_bytes, measure_cpu, page_rows, rate_rows

    scale = Scale(
        urls=1_200,
        scrapy_redis_urls=300,
        usual_requests=120,
        hosts=20,
        parked_hosts=2,
        parked_blocks=1,
        stories=600,
        rounds=2,
        pages_a_round=4,
    )
    told: list[str] = []

    rows = measure_bytes(redis_server, scale, told.append)
    rates = measure_cpu(redis_server, scale, told.append)
    rows += rate_rows(rates) + page_rows(rates)

    assert len(rows) == 6 + 12 + 6
    assert all(row.weft > 0 for row in rows)
    assert [row.what for row in rows if not row.scrapy_redis] == [
        "fetched URL, remembered for `weft explain`"
    ]
    assert told
    assert redis_server.ask("DBSIZE") == 0


def test_a_contestant_that_loses_requests_is_found_out(redis_server: RedisServer) -> None:
    from bench.contestant import BenchError
    from bench.on_scrapy_redis import OnScrapyRedis
    from bench.rates import measure_rates

    class Forgetful(OnScrapyRedis):
        def take(self, many: int) -> list[Request]:
            return super().take(many)[1:]

    with Forgetful(redis_server.url) as contestant, pytest.raises(BenchError):
        measure_rates(redis_server, [contestant], hosts=2, rounds=1, pages=1)
    redis_server.ask("FLUSHALL")


def test_a_row_tells_whether_its_limits_are_kept() -> None:
    from bench.report import Row

    assert Row("bytes", 10, 50, most=10).is_kept
    assert not Row("bytes", 11, 50, most=10).is_kept
    assert Row("rate", 50, 10, is_rate=True, least_ratio=5).is_kept
    assert not Row("rate", 49, 10, is_rate=True, least_ratio=5).is_kept
    assert Row("bytes", 10, None).is_kept

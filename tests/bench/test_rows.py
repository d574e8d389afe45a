"""From what was measured to rows, ratios and limits."""

import pytest

from bench.crawlers.check import Verdict
from bench.crawlers.field import CONTESTANTS, Pace
from bench.crawlers.limits import limits_of
from bench.crawlers.pages import StaticSite
from bench.crawlers.report import Result, as_json
from bench.crawlers.rounds import Entry
from bench.crawlers.rows import Row, make_row, polite_share
from bench.crawlers.scenarios import SCENARIOS
from bench.crawlers.trial import Trial

SITE = StaticSite(pages=1_001, page_bytes=30_000, links=60)
GOOD = Trial(
    cpu_s=3.0,
    first_cpu_s=0.8,
    redis_cpu_s=0.5,
    wall_s=5.0,
    crawl_s=2.0,
    served=1_001,
    peak_bytes=100,
    early_bytes=50,
    late_bytes=90,
    verdict=Verdict(),
    problem="",
)


def row_of(name: str = "weft", *, start_s: float = 1.0, cpu_s: tuple[float, ...] = (3.0,)) -> Row:
    entry = Entry(CONTESTANTS[name], SITE)
    entry.starts.append(GOOD._replace(cpu_s=start_s, redis_cpu_s=0.1))
    entry.trials += [GOOD._replace(cpu_s=value) for value in cpu_s]
    return make_row(entry, Pace())


def test_start_and_end_are_taken_off_and_told_apart() -> None:
    row = row_of()
    assert row.cpu_ms == pytest.approx(2.0)
    assert row.redis_cpu_ms == pytest.approx(0.4)
    assert row.start_cpu_s == 1.0
    assert row.pages_per_s == pytest.approx(500.5)


def test_the_median_of_the_rounds_counts() -> None:
    assert row_of(cpu_s=(3.0, 90.0, 4.0)).cpu_ms == pytest.approx(3.0)


def test_or_their_mean() -> None:
    entry = Entry(CONTESTANTS["weft"], SITE)
    entry.trials += [GOOD._replace(crawl_s=seconds) for seconds in (1.0, 2.0, 6.0)]
    assert make_row(entry, Pace(), has_means=True).pages_per_s == pytest.approx(1_001 / 3)


def test_a_crawl_of_one_page_is_start_and_end() -> None:
    entry = Entry(CONTESTANTS["weft"], SITE._replace(pages=1))
    entry.trials += [GOOD._replace(cpu_s=cpu_s) for cpu_s in (1.3, 9.0, 1.2, 1.1)]
    row = make_row(entry, Pace())
    assert row.start_cpu_s == 1.2  # the lower quartile
    assert row.cpu_ms == pytest.approx(1_200)


def test_what_is_used_before_the_first_page_is_not_what_pages_cost() -> None:
    entry = Entry(CONTESTANTS["weft"], SITE)
    entry.starts.append(GOOD._replace(cpu_s=1.0, first_cpu_s=0.9))
    entry.trials.append(GOOD._replace(cpu_s=5.0, first_cpu_s=1.9))  # a slow start, this time
    row = make_row(entry, Pace())
    assert row.cpu_ms == pytest.approx(3.0)
    assert row.start_cpu_s == 1.0


def test_requests_beyond_one_for_each_page_are_told() -> None:
    entry = Entry(CONTESTANTS["weft"], SITE)
    entry.trials.append(GOOD._replace(served=1_011))
    assert make_row(entry, Pace()).extra_requests == 10


def test_the_first_page_of_a_host_waits_for_nothing() -> None:
    site = StaticSite(pages=40, page_bytes=2_000, links=10, hosts=500)
    pace = Pace(delay_s=0.5)
    assert polite_share(site, pace, crawl_s=19.5) == 1.0
    assert polite_share(site, pace, crawl_s=39.0) == 0.5


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (GOOD._replace(verdict=Verdict(missing=2)), "WRONG: 2 missing"),
        (GOOD._replace(problem="ended with 1: boom"), "ended with 1: boom"),
        (
            GOOD._replace(verdict=Verdict(twice=1), problem="ended with 1: boom"),
            "WRONG: 1 twice; ended with 1: boom",
        ),
    ],
)
def test_one_bad_round_spoils_the_row(bad: Trial, told: str) -> None:
    entry = Entry(CONTESTANTS["weft"], SITE)
    entry.trials += [GOOD, bad]
    row = make_row(entry, Pace())
    assert row.fault == told
    assert not Result(SCENARIOS["links"], [row]).is_right


def test_who_is_not_installed_is_nobodys_fault() -> None:
    row = make_row(Entry(CONTESTANTS["crawlee"], SITE), Pace())
    assert row.fault == "not installed"
    assert Result(SCENARIOS["links"], [row]).is_right


# Limits


def test_a_limit_is_kept_or_missed() -> None:
    scrapy = row_of("scrapy", cpu_s=(21.0,))
    kept, missed = (limits_of("links", [row_of(cpu_s=(cpu_s,)), scrapy]) for cpu_s in (2.9, 3.1))
    [kept_limit], [missed_limit] = kept, missed
    assert str(kept_limit).startswith("ok     Weft embedded / plain Scrapy, CPU: 0.095")
    assert str(missed_limit).startswith("MISSED Weft embedded / plain Scrapy, CPU: 0.105")


def test_all_limits_are_told_where_everybody_takes_part() -> None:
    names = [name for name in CONTESTANTS if name != "crawlee"]
    assert len(limits_of("links", [row_of(name) for name in names])) == 6


def test_nothing_is_promised_of_crawls_that_were_too_short_to_measure() -> None:
    assert limits_of("links", [row_of(cpu_s=(0.9,)), row_of("scrapy")]) == []
    assert limits_of("links", [row_of(), row_of("scrapy", cpu_s=(0.9,))]) == []


def test_a_wrong_contestant_has_no_limits() -> None:
    broken = row_of("scrapy")._replace(fault="WRONG: 1 missing")
    assert limits_of("links", [row_of(), broken]) == []


def test_redis_has_a_limit_of_its_own() -> None:
    ours, theirs = row_of("weft-redis-1"), row_of("scrapy-redis-1")
    theirs = theirs._replace(redis_cpu_ms=ours.redis_cpu_ms * 4)
    limit = limits_of("links", [ours, theirs])[-1]
    assert limit.what == "Weft on Redis / scrapy-redis, CPU of Redis"
    assert limit.figure == pytest.approx(0.25)
    assert not limit.is_kept


def test_politeness_is_asked_of_weft_only() -> None:
    rows = [row_of(name)._replace(polite_share=0.89) for name in ("weft", "scrapy")]
    [limit] = limits_of("polite", rows)
    assert not limit.is_kept
    [limit] = limits_of("polite", [rows[0]._replace(polite_share=0.9)])
    assert limit.is_kept


def test_endurance_compares_the_long_crawl_with_the_short() -> None:
    short, long = row_of(), row_of()._replace(cpu_ms=2.3, pages=200_000)
    [limit] = limits_of("endurance", [short, long])
    assert limit.figure == pytest.approx(1.15)
    assert not limit.is_kept


def test_start_and_end_are_compared_with_those_of_scrapy() -> None:
    names = ("weft", "weft-spider", "addon", "weft-workers-2", "scrapy")
    cpu_ms = (1_050, 1_060, 900, 1_990, 1_000)
    rows = [row_of(name)._replace(cpu_ms=ms) for name, ms in zip(names, cpu_ms, strict=True)]
    assert [limit.is_kept for limit in limits_of("start", rows)] == [True, False, True, True]


def test_one_page_stays_one_page() -> None:
    assert SCENARIOS["start"].with_pages(100).is_start
    assert not any(SCENARIOS[name].is_start for name in SCENARIOS if name != "start")


@pytest.mark.parametrize(("pages", "short"), [(100_000, 2_000), (4_000, 2_000), (2_000, 1_000)])
def test_of_two_crawls_one_stays_the_longer(pages: int, short: int) -> None:
    scenario = SCENARIOS["endurance"].with_pages(pages)
    assert [site.pages for site in scenario.sites] == [short, pages]


def test_the_same_figures_are_there_for_programs() -> None:
    rows = [row_of("weft"), row_of("scrapy", cpu_s=(21.0,))]
    [told] = as_json([Result(SCENARIOS["links"], rows)])
    assert told["site"] == "links"
    assert told["rows"][1]["cpu_ms"] == pytest.approx(20.0)
    assert told["limits"][0]["is_kept"] is True

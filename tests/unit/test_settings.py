from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from weft.config import HostLimits
from weft.engine.settings import SETTINGS, JobConfig, read_settings, store_path
from weft.errors import ConfigError
from weft.records import Order


def read(**values: Any) -> JobConfig:
    settings = Settings(dict(SETTINGS), "default")
    settings.setdict(values, "project")
    return read_settings(settings, "quotes")


def problems(**values: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(**values)
    return str(caught.value).splitlines()


def test_defaults() -> None:
    config = read()
    assert config.job_dir == Path(".weft/quotes")
    assert config.frontier.order is Order.PRIORITY
    assert config.limits == HostLimits(delay_ms=0, concurrency=8)
    assert config.limits_by_host == {}
    assert config.outputs == (".weft/quotes/items.db",)
    assert (config.item_key, config.fingerprint_headers) == ((), ())
    assert (config.max_pages, config.is_fresh, config.is_rerun) == (0, False, True)


def test_every_setting_is_read() -> None:
    config = read(
        WEFT_STORE="rocks:///data/job",
        WEFT_ORDER="dfs",
        WEFT_OUTPUT=["a.jsonl", Path("b.db")],
        WEFT_ITEM_KEY="url,lang",
        WEFT_FINGERPRINT_HEADERS=["Accept"],
        WEFT_MAX_PAGES="7",
        WEFT_FRESH="True",
        WEFT_RERUN=False,
        DOWNLOAD_DELAY="0.25",
        CONCURRENT_REQUESTS_PER_DOMAIN=3,
    )
    assert config.job_dir == Path("/data/job")
    assert config.frontier.order is Order.DFS
    assert config.outputs == ("a.jsonl", "b.db")
    assert (config.item_key, config.fingerprint_headers) == (("url", "lang"), ("Accept",))
    assert (config.max_pages, config.is_fresh, config.is_rerun) == (7, True, False)
    assert config.limits == config.frontier.limits == HostLimits(delay_ms=250, concurrency=3)


def test_items_can_go_nowhere() -> None:
    assert read(WEFT_OUTPUT=[]).outputs == ()


def test_items_go_where_the_job_is() -> None:
    assert read(WEFT_STORE="rocks:///data/job").outputs == ("/data/job/items.db",)


@pytest.mark.parametrize(
    ("values", "job_dir"),
    [
        ({"JOBDIR": "jobs/a"}, "jobs/a"),
        ({"JOBDIR": "jobs/a", "WEFT_STORE": "rocks://b"}, "b"),
        ({"JOBDIR": ""}, ".weft/quotes"),
    ],
)
def test_jobdir_of_scrapy_is_the_place_of_the_job(values: dict[str, str], job_dir: str) -> None:
    assert read(**values).job_dir == Path(job_dir)


@pytest.mark.parametrize(
    ("store", "path"),
    [
        ("rocks:///data/job", "/data/job"),
        ("rocks://job", "job"),
        ("rocks://a/b", "a/b"),
        ("ROCKS://Job", "Job"),
        ("rocks:///100%/what?/#1", "/100%/what?/#1"),
        ("rocks://[x", "[x"),
    ],
)
def test_store_is_a_directory(store: str, path: str) -> None:
    assert store_path(store) == Path(path)


@pytest.mark.parametrize("store", ["", "job", "/data/job", "rocks://", "rocks:", "redis://h/0"])
def test_other_stores_are_refused_with_the_cure(store: str) -> None:
    with pytest.raises(ConfigError, match="write rocks:///DIR") as caught:
        store_path(store)
    assert repr(store) in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    told = problems(
        WEFT_STORE="redis://h",
        WEFT_ORDER="best",
        WEFT_OUTPUT=5,
        WEFT_MAX_PAGES=-1,
        WEFT_FRESH="maybe",
        WEFT_RERUN="maybe",
        WEFT_SPEED=9,
        DOWNLOAD_DELAY="quick",
        CONCURRENT_REQUESTS_PER_DOMAIN=0,
        DOWNLOAD_SLOTS={"h": 5},
    )
    names = [
        "WEFT_STORE",
        "WEFT_ORDER",
        "WEFT_OUTPUT",
        "WEFT_MAX_PAGES",
        "WEFT_FRESH",
        "WEFT_RERUN",
        "WEFT_SPEED",
        "DOWNLOAD_DELAY",
        "CONCURRENT_REQUESTS_PER_DOMAIN",
        "DOWNLOAD_SLOTS",
    ]
    assert len(told) == len(names)
    for name in names:
        assert sum(name in problem.split("; Weft has")[0] for problem in told) == 1


@pytest.mark.parametrize("value", [-1, "x", float("nan"), float("inf"), 1e10, [1]])
@pytest.mark.parametrize("name", ["DOWNLOAD_DELAY", "WEFT_MAX_PAGES"])
def test_number_must_be_one(name: str, value: object) -> None:
    assert problems(**{name: value}) == [f"{name} is {value!r}; it must be a number, 0 or more"]


def test_unknown_setting_is_told_with_those_that_there_are() -> None:
    (problem,) = problems(WEFT_SPEED=9)
    assert problem.startswith("there is no setting WEFT_SPEED; Weft has WEFT_ENABLED, ")
    assert problem.endswith(", ".join(sorted(SETTINGS)))


def test_wrong_order_is_told_with_the_choices() -> None:
    assert problems(WEFT_ORDER="best") == [
        "WEFT_ORDER is 'best'; choose one of bfs, dfs, priority, random"
    ]


def test_slots_are_limits_of_single_hosts() -> None:
    slots = {"a": {"concurrency": 2}, "b": {"delay": 0.5}, "c": {"concurrency": 0, "delay": 0}}
    config = read(DOWNLOAD_SLOTS=slots, DOWNLOAD_DELAY=1, CONCURRENT_REQUESTS_PER_DOMAIN=4)
    assert config.limits_of("a") == HostLimits(1000, 2)
    assert config.limits_of("b") == HostLimits(500, 4)
    assert config.limits_of("c") == HostLimits(0, 1)
    assert config.limits_of("d") == HostLimits(1000, 4)


@pytest.mark.parametrize(
    "own",
    [
        None,
        5,
        *({"delay": delay} for delay in ("x", None, -1, float("inf"), float("nan"))),
        *({"concurrency": concurrency} for concurrency in ("x", None, -1)),
    ],
)
def test_slot_that_cannot_be_is_told(own: object) -> None:
    assert problems(DOWNLOAD_SLOTS={"h": own}) == [
        f"DOWNLOAD_SLOTS['h'] is {own!r}; delay and concurrency are numbers, 0 or more"
    ]


def test_host_without_delay_may_have_twice_its_concurrency_in_claims() -> None:
    frontier = read(DOWNLOAD_SLOTS={"slow": {"delay": 1, "concurrency": 3}}).frontier
    assert frontier.limits_of("any") == HostLimits(0, 16)
    assert frontier.limits_of("slow") == HostLimits(1000, 3)


@pytest.mark.filterwarnings("ignore:The CONCURRENT_REQUESTS_PER_IP setting is deprecated")
def test_requests_per_ip_go_before_those_per_domain() -> None:
    assert read(CONCURRENT_REQUESTS_PER_IP=2).limits.concurrency == 2

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from weft.config import FrontierConfig, HostLimits, SharedConfig, job_name
from weft.engine.scrapy.scrapyparts import ScrapyPart
from weft.engine.settings import SETTINGS, JobConfig, read_settings
from weft.errors import ConfigError
from weft.frontier import Store
from weft.records import HostKey, Order, Picker, SeenKind, Strategy

REDIS = "redis://host:6379/0"


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
    assert config.store == Store("rocks://.weft/quotes", Path(".weft/quotes"))
    assert (config.job, config.job_dir) == ("quotes", Path(".weft/quotes"))
    assert config.frontier.shared == SharedConfig()
    assert config.frontier.claim_ms == FrontierConfig().claim_ms
    assert config.frontier.workers_per_host == 1
    assert config.frontier.order is Order.PRIORITY
    assert config.limits == HostLimits(delay_ms=0, concurrency=8)
    assert config.limits_by_host == {}
    assert config.sinks == (".weft/quotes/items.db",)
    assert (config.item_key, config.fingerprint_headers) == ((), ())
    assert (config.max_pages, config.is_fresh, config.is_rerun) == (0, False, True)


def test_every_setting_is_read() -> None:
    config = read(
        WEFT_STORE="rocks:///data/job",
        WEFT_ORDER="dfs",
        WEFT_SINKS=["a.jsonl", Path("b.db")],
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
    assert config.sinks == ("a.jsonl", "b.db")
    assert (config.item_key, config.fingerprint_headers) == (("url", "lang"), ("Accept",))
    assert (config.max_pages, config.is_fresh, config.is_rerun) == (7, True, False)
    assert config.limits == config.frontier.limits == HostLimits(delay_ms=250, concurrency=3)


def test_items_can_go_nowhere() -> None:
    assert read(WEFT_SINKS=[]).sinks == ()


def test_items_go_where_the_job_is() -> None:
    assert read(WEFT_STORE="rocks:///data/job").sinks == ("/data/job/items.db",)


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


def test_an_embedded_store_is_the_directory_of_the_job() -> None:
    config = read(WEFT_STORE="rocks://a/b")
    assert config.store == Store("rocks://a/b", Path("a/b"))
    assert config.job_dir == Path("a/b")


def test_what_is_no_store_is_told_with_the_cure() -> None:
    (problem,) = problems(WEFT_STORE="job")
    assert problem.startswith("WEFT_STORE: 'job' is not a store; write rocks:///DIR for")


# Shared stores


def test_every_setting_of_a_shared_store_is_read() -> None:
    config = read(
        WEFT_STORE=REDIS,
        WEFT_JOB="news",
        WEFT_WORKERS_PER_HOST="2",
        WEFT_CLAIM_TIMEOUT="1.5",
        WEFT_BUCKETS=65_536,
        WEFT_BUCKET_LIMIT="7",
        WEFT_PICKER="advanced",
        WEFT_ASSIGNMENT="two-level",
        WEFT_VIRTUAL_NODES="128",
        WEFT_SEEN="bloom",
        WEFT_EXPECTED_URLS=9,
        WEFT_BLOOM_ERROR="0.01",
        WEFT_LEASE_TIMEOUT="3",
        WEFT_WEIGHT="2.5",
        WEFT_NODE="big",
    )
    assert (config.lease_s, config.weight, config.node) == (3, 2.5, "big")
    assert (config.store, config.job) == (Store(REDIS), "news")
    assert (config.frontier.claim_ms, config.frontier.workers_per_host) == (1500, 2)
    assert config.frontier.shared == SharedConfig(
        65_536, 7, Picker.ADVANCED, Strategy.TWO_LEVEL, SeenKind.BLOOM, 9, 0.01, 128
    )


@pytest.mark.parametrize(
    ("values", "job_dir"),
    [
        ({}, ".weft/quotes"),
        ({"WEFT_JOB": "news"}, ".weft/news"),
        ({"WEFT_JOB": "news", "JOBDIR": "jobs/a"}, "jobs/a"),
    ],
)
def test_items_of_a_shared_job_have_a_directory_on_each_machine(
    values: dict[str, str], job_dir: str
) -> None:
    config = read(WEFT_STORE=REDIS, **values)
    assert config.job_dir == Path(job_dir)
    assert config.sinks == (f"{job_dir}/items.db",)


def test_a_job_has_the_name_of_its_spider_or_its_own() -> None:
    assert read().job == "quotes"
    assert read(WEFT_JOB="news").job == "news"
    assert read(WEFT_JOB="news").store.directory == Path(".weft/news")


@pytest.mark.parametrize(
    ("name", "job"), [("a/b", "a_b"), ("{b1}", "(b1)"), ("..", "job"), ("", "job"), ("ü", "ü")]
)
def test_every_name_can_be_that_of_a_job(name: str, job: str) -> None:
    assert job_name(name) == job
    assert job_name(job) == job


@pytest.mark.parametrize(("name", "value"), [("WEFT_PICKER", "advanced"), ("WEFT_SEEN", "bloom")])
def test_what_an_embedded_store_does_not_have_is_told(name: str, value: str) -> None:
    (problem,) = problems(**{name: value})
    assert problem.startswith(
        f"{name} = {value!r} needs a shared store; set WEFT_STORE to redis://"
    )


WHOLE = {
    "WEFT_WORKERS_PER_HOST": "1 or more",
    "WEFT_BUCKETS": "from 1 to 65536",
    "WEFT_BUCKET_LIMIT": "1 or more",
    "WEFT_EXPECTED_URLS": "1 or more",
}


@pytest.mark.parametrize("value", [0, -1, 2.5, "x", "", "2.5", None, True, float("inf"), [1]])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_number_must_be_one(name: str, value: object) -> None:
    told = problems(WEFT_STORE=REDIS, **{name: value})
    assert told == [f"{name} is {value!r}; it must be a whole number, {WHOLE[name]}"]


def test_there_can_be_too_many_buckets() -> None:
    (problem,) = problems(WEFT_STORE=REDIS, WEFT_BUCKETS=65_537)
    assert problem.startswith("WEFT_BUCKETS is 65537; ")


@pytest.mark.parametrize("value", [0, 0.9, -1, "x", None, float("nan"), float("inf")])
def test_claims_last_for_a_second_at_least(value: object) -> None:
    assert problems(WEFT_CLAIM_TIMEOUT=value) == [
        f"WEFT_CLAIM_TIMEOUT is {value!r}; it must be a number, 1 or more"
    ]


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1, "x", None, float("nan")])
def test_the_error_of_a_filter_is_a_share(value: object) -> None:
    assert problems(WEFT_STORE=REDIS, WEFT_BLOOM_ERROR=value) == [
        f"WEFT_BLOOM_ERROR is {value!r}; it must be a number, more than 0 and less than 1"
    ]


@pytest.mark.parametrize("name", ["WEFT_PICKER", "WEFT_SEEN"])
def test_wrong_choice_is_told_with_the_choices(name: str) -> None:
    choices = {"WEFT_PICKER": "default, advanced", "WEFT_SEEN": "exact, bloom"}
    assert problems(WEFT_STORE=REDIS, **{name: "x"}) == [
        f"{name} is 'x'; choose one of {choices[name]}"
    ]


# Problems


def test_all_problems_are_told_at_once() -> None:
    told = problems(
        WEFT_STORE="mysql://h",
        WEFT_ORDER="best",
        WEFT_SINKS=5,
        WEFT_MAX_PAGES=-1,
        WEFT_FRESH="maybe",
        WEFT_RERUN="maybe",
        WEFT_SPEED=9,
        DOWNLOAD_DELAY="quick",
        CONCURRENT_REQUESTS_PER_DOMAIN=0,
        DOWNLOAD_SLOTS={"h": 5},
        WEFT_BUCKETS=0,
        WEFT_CLAIM_TIMEOUT=0,
        WEFT_BLOOM_ERROR=0,
    )
    names = [
        "WEFT_STORE",
        "WEFT_ORDER",
        "WEFT_SINKS",
        "WEFT_MAX_PAGES",
        "WEFT_FRESH",
        "WEFT_RERUN",
        "WEFT_SPEED",
        "DOWNLOAD_DELAY",
        "CONCURRENT_REQUESTS_PER_DOMAIN",
        "DOWNLOAD_SLOTS",
        "WEFT_BUCKETS",
        "WEFT_CLAIM_TIMEOUT",
        "WEFT_BLOOM_ERROR",
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
    assert problem.startswith("there is no setting WEFT_SPEED; Weft has WEFT_ASSIGNMENT, ")
    assert problem.endswith(", ".join(sorted(SETTINGS)))


def test_wrong_order_is_told_with_the_choices() -> None:
    assert problems(WEFT_ORDER="best") == [
        "WEFT_ORDER is 'best'; choose one of bfs, dfs, priority, random"
    ]


def test_slots_are_limits_of_single_hosts() -> None:
    slots = {
        "a": {"concurrency": 2, "jitter": 0, "randomize_delay": False},
        "b": {"delay": 0.5},
        "c": {"concurrency": 0, "delay": 0},
    }
    config = read(DOWNLOAD_SLOTS=slots, DOWNLOAD_DELAY=1, CONCURRENT_REQUESTS_PER_DOMAIN=4)
    assert config.limits_of("a") == HostLimits(1000, 2)
    assert config.limits_of("b") == HostLimits(500, 4)
    assert config.limits_of("c") == HostLimits(0, 1)
    assert config.limits_of("d") == HostLimits(1000, 4)


# Host keys


def test_host_keys_are_host_names_unless_the_setting_says_otherwise() -> None:
    assert read().frontier.host_key is HostKey.HOST
    assert read(WEFT_HOST_KEY="domain").frontier.host_key is HostKey.DOMAIN
    assert read(WEFT_STORE=REDIS, WEFT_HOST_KEY="ip").frontier.host_key is HostKey.IP
    assert problems(WEFT_HOST_KEY="port") == [
        "WEFT_HOST_KEY is 'port'; choose one of host, domain, ip"
    ]


def test_limits_of_hosts_are_those_of_their_domain_the_strictest_of_them() -> None:
    slots = {
        "www.example.org": {"delay": 2, "concurrency": 5},
        "img.example.org": {"delay": 1, "concurrency": 3},
        "other.org": {"concurrency": 1},
    }
    config = read(WEFT_HOST_KEY="domain", DOWNLOAD_SLOTS=slots)
    assert config.limits_of("example.org") == HostLimits(2000, 3)
    assert config.limits_of("other.org") == HostLimits(0, 1)
    assert config.frontier.limits_of("example.org") == HostLimits(2000, 3)
    assert config.limits_of("www.example.org") == config.limits


def test_by_address_limits_are_those_of_addresses() -> None:
    slots = {"192.0.2.1": {"delay": 1}}
    config = read(WEFT_HOST_KEY="ip", DOWNLOAD_SLOTS=slots)
    assert config.limits_of("192.0.2.1").delay_ms == 1000
    assert problems(WEFT_HOST_KEY="ip", DOWNLOAD_SLOTS={"example.org": {}}) == [
        "DOWNLOAD_SLOTS['example.org'] names a host, but with WEFT_HOST_KEY = 'ip' limits "
        "apply to addresses; name its address (the name of a slot has no dot then)"
    ]
    config = read(WEFT_HOST_KEY="ip", DOWNLOAD_SLOTS={"slow": {"delay": 2}})
    assert config.limits_of("slow").delay_ms == 2000


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
        f"DOWNLOAD_SLOTS['h'] is {own!r}; delay and concurrency must be numbers, 0 or more"
    ]


def test_host_without_delay_may_have_claims_ahead_of_its_concurrency() -> None:
    frontier = read(DOWNLOAD_SLOTS={"slow": {"delay": 1, "concurrency": 3}}).frontier
    assert frontier.limits_of("any") == HostLimits(0, 32)
    assert frontier.limits_of("slow") == HostLimits(1000, 3)


def test_where_workers_share_a_host_a_claim_is_the_right_to_send() -> None:
    config = read(WEFT_WORKERS_PER_HOST=2, DOWNLOAD_SLOTS={"h": {"concurrency": 3}})
    assert config.frontier.limits == config.limits == HostLimits(0, 8)
    assert config.frontier.limits_of("h") == HostLimits(0, 3)


@pytest.mark.filterwarnings("ignore:The CONCURRENT_REQUESTS_PER_IP setting is deprecated")
def test_requests_per_ip_go_before_those_per_domain() -> None:
    assert read(CONCURRENT_REQUESTS_PER_IP=2).limits.concurrency == 2


def test_parts_of_scrapy_are_named() -> None:
    assert read(WEFT_SCRAPY_PARTS="handler,stats").scrapy_parts == {
        ScrapyPart.HANDLER,
        ScrapyPart.STATS,
    }
    [problem] = problems(WEFT_SCRAPY_PARTS=["handler", "wheel", "hull"])
    assert problem == (
        "WEFT_SCRAPY_PARTS names wheel, hull; "
        "choose from engine, handler, signals, stats, log, duplicates"
    )

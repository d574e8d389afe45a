"""A crawl moves from scrapy-redis to Weft."""

import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest, Response
from scrapy.settings import Settings

from launchers.redis import RedisServer
from launchers.server import HOST
from running import Weft
from servers import all_keys
from weft.config import FrontierConfig, HostLimits
from weft.engine.target import Target
from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Frontier, FrontierBackend, MemoryFrontier, RocksFrontier, parse_store
from weft.frontier.redis import RedisFrontier
from weft.records import AddStatus, Claim, Order, PackedRequest
from weft.scrapyredis import source as source_module
from weft.scrapyredis.fingerprinter import ScrapyRedisFingerprinter
from weft.scrapyredis.packing import Packing
from weft.scrapyredis.result import Dupefilter, TransferResult
from weft.scrapyredis.source import Keys, Source, find_keys
from weft.scrapyredis.transfer import Transfer
from weft.testing import Site, SiteServer

KEYS = Keys("walk:requests", "walk:dupefilter")
FINGERPRINTER = "weft.scrapyredis.fingerprinter.ScrapyRedisFingerprinter"
SPIDER = f"""
import scrapy

class WalkSpider(scrapy.Spider):
    name = "walk"
    custom_settings = {{"REQUEST_FINGERPRINTER_CLASS": "{FINGERPRINTER}"}}

    async def start(self):
        yield scrapy.Request(self.site)

    def parse(self, response):
        yield {{"url": response.url}}
        yield from response.follow_all(css="a")
"""


class WalkSpider(Spider):
    name = "walk"

    def parse(self, response: Response, **kwargs: Any) -> Any: ...
    def parse_page(self, response: Response) -> Any: ...
    def failed(self, failure: Any) -> Any: ...


class Old:
    """The Redis of scrapy-redis: another database of the same server, which Weft does not use."""

    def __init__(self, server: RedisServer) -> None:
        self.url = f"redis://{HOST}:{server.port}/1"
        self.client = redis.Redis(HOST, server.port, db=1)
        self.spider = WalkSpider()

    def queue(self, name: str) -> Any:
        queues = pytest.importorskip("scrapy_redis.queue")
        return getattr(queues, name)(self.client, self.spider, KEYS.queue)

    def dupefilter(self) -> Any:
        module = pytest.importorskip("scrapy_redis.dupefilter")
        return module.RFPDupeFilter(self.client, KEYS.dupefilter)

    def enter(self, *entries: bytes) -> None:
        """As FifoQueue does."""
        self.client.lpush(KEYS.queue, *entries)

    def know(self, *requests: Request) -> None:
        digests = [ScrapyRedisFingerprinter().fingerprint(r).hex() for r in requests]
        self.client.sadd(KEYS.dupefilter, *digests)

    def everything(self) -> dict[Any, Any]:
        read: dict[bytes, Callable[[Any], Any]] = {
            b"set": self.client.smembers,
            b"list": lambda key: self.client.lrange(key, 0, -1),
            b"zset": lambda key: self.client.zrange(key, 0, -1, withscores=True),
        }
        kinds: dict[Any, Any] = {key: self.client.type(key) for key in self.client.scan_iter()}
        return {key: read[kind](key) for key, kind in kinds.items()}


@pytest.fixture
def old(redis_server: RedisServer) -> Iterator[Old]:
    old = Old(redis_server)
    with old.client:
        yield old


def entry(request: Request, spider: Spider | None = None) -> bytes:
    """As scrapy-redis writes it."""
    return pickle.dumps(request.to_dict(spider=spider), protocol=-1)


def entries(*paths: str, **fields: Any) -> list[bytes]:
    return [entry(Request(f"http://a/{path}", **fields)) for path in paths]


def packing(**settings: Any) -> Packing:
    settings.setdefault("REQUEST_FINGERPRINTER_CLASS", FINGERPRINTER)
    own = {name: value for name, value in settings.items() if value is not None}
    return Packing(Target(WalkSpider, {}, Settings(own), "unused"), {})


def memory(order: Order = Order.PRIORITY) -> MemoryFrontier:
    limits = HostLimits(concurrency=1_000_000)
    return MemoryFrontier(FrontierConfig(order=order, limits=limits))


async def bring(
    old: Old,
    frontier: FrontierBackend | None,
    keys: Keys = KEYS,
    settings: Any = None,
    **options: Any,
) -> TransferResult:
    async with Source(parse_store(old.url), keys) as source:
        transfer = Transfer(packing(**(settings or {})), **options)
        await transfer.check(source)
        return await transfer.run(source, frontier)


async def claims(frontier: Frontier) -> list[Claim]:
    return (await frontier.claim("me", 1_000)).claims


async def urls(frontier: Frontier) -> list[str]:
    return [claim.request.url for claim in await claims(frontier)]


async def add(frontier: Frontier, *requests: Request) -> list[AddStatus]:
    """As links that are found."""
    pack = packing().pack
    return await frontier.add([pack(entry(request)) for request in requests])


# The whole way, with scrapy-redis itself


@pytest.mark.parametrize("store", ["redis", "rocks"])
@pytest.mark.parametrize("name", ["PriorityQueue", "FifoQueue", "LifoQueue"])
def test_a_crawl_goes_on_where_scrapy_redis_stopped(
    weft: Weft, tmp_path: Path, redis_server: RedisServer, old: Old, store: str, name: str
) -> None:
    (tmp_path / "walk.py").write_text(SPIDER)
    place = redis_server.url if store == "redis" else f"rocks://{tmp_path}/job"
    with SiteServer(Site(pages=20)) as server:
        fetched = scrape_half(old, name, server)
        before = old.everything()
        spider = ("walk.py", "-a", f"site={server.url}", "--store", place)
        command = ("frontier", "import-scrapy-redis", *spider, "--from", old.url)
        told = [weft(*command) for _ in range(2)]
        assert [ended.returncode for ended in told] == [0, 0], told[0].stderr
        crawled = weft("crawl", *spider, "-o", "out.jsonl")
        hits = [server.url + hit.path[1:] for hit in server.hits() if hit.path != "/robots.txt"]
        left = server.page_urls() - fetched
    assert crawled.returncode == 0, crawled.stderr
    assert sorted(hits) == sorted(left)
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["url"] for line in lines) == sorted(left)
    assert "12 requests imported: " in told[0].stdout
    assert "8 pages that scrapy-redis had fetched are marked as known" in told[0].stdout
    assert "0 requests imported, 12 were already there" in told[1].stdout
    assert old.everything() == before


def scrape_half(old: Old, name: str, server: SiteServer) -> set[str]:
    """scrapy-redis has queued all pages, and fetched eight of them."""
    queue = old.queue(name)
    dupefilter = old.dupefilter()
    first, *others = sorted(server.page_urls())
    fetched: set[str] = set()
    for url in (first, *others):
        request = Request(url, headers={"Referer": first}, meta={"depth": 1})
        assert not dupefilter.request_seen(request)
        queue.push(request)
        if len(fetched) < 8:
            fetched.add(queue.pop().url)
    return fetched


@pytest.mark.parametrize("order", [Order.PRIORITY, Order.BFS, Order.DFS])
@pytest.mark.parametrize("name", ["PriorityQueue", "FifoQueue", "LifoQueue"])
async def test_the_order_is_that_of_scrapy_redis(
    old: Old, name: str, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "PAGE", 3)
    queue = old.queue(name)
    for number in range(10):
        priority = number % 3 if name == "PriorityQueue" else 0
        queue.push(Request(f"http://a/{number}", priority=priority))
    keys = find_keys(
        Settings({"SCHEDULER_QUEUE_CLASS": f"scrapy_redis.queue.{name}"}),
        "walk",
        None,
        None,
        is_lifo=False,
    )
    frontier = memory(order)
    await bring(old, frontier, keys, {"WEFT_ORDER": order.value})
    assert await urls(frontier) == [queue.pop().url for _ in range(10)]


def test_our_fingerprints_are_those_of_scrapy_redis(old: Old) -> None:
    dupefilter = old.dupefilter()
    for request in (
        Request("http://a/?b=2&a=1#fragment"),
        Request("http://a/ü", method="POST", body="ü"),
        FormRequest("http://a/", formdata={"a": "1"}),
        Request("http://a/", headers={"Cookie": "a"}, cookies={"b": "c"}),
    ):
        digest = ScrapyRedisFingerprinter().fingerprint(request)
        assert digest.hex() == dupefilter.request_fingerprint(request)


# What a request is made of


async def test_requests_come_as_they_were(old: Old) -> None:
    spider = old.spider
    given = Request(
        "http://a/page?x=1",
        spider.parse_page,
        "POST",
        headers={"Accept": ["a", "b"]},
        body=b"\xff",
        cookies={"c": "d"},
        meta={"depth": 3, "pair": (1, None), "raw": b"\x00"},
        cb_kwargs={"n": 1},
        errback=spider.failed,
        priority=-4,
        flags=["f"],
    )
    old.enter(entry(given, spider))
    frontier = memory()
    assert (await bring(old, frontier)).queued == 1
    [claim] = await claims(frontier)
    maker = packing()
    packed = claim.request
    made = maker._intake._packer.unpack(packed.url, packed.priority, packed.payload)
    theirs, ours = made.to_dict(spider=maker._spider), given.to_dict(spider=spider)
    assert theirs == ours


async def test_requests_as_json_are_read(old: Old) -> None:
    fields = Request("http://a/", method="PUT", priority=7).to_dict()
    texts = fields | {"body": "text", "headers": {"Accept": ["a"]}, "callback": "parse_page"}
    old.enter(json.dumps(texts).encode())
    frontier = memory()
    assert (await bring(old, frontier)).queued == 1
    [claim] = await claims(frontier)
    assert claim.request.priority == 7
    assert b"parse_page" in claim.request.payload
    assert b"text" in claim.request.payload


async def test_requests_that_scrapy_helped_to_build_are_plain_ones(old: Old) -> None:
    form = FormRequest("http://a/form", formdata={"a": "1"})
    old.enter(entry(form), entry(JsonRequest("http://a/json", data={"a": 1})))
    frontier = memory()
    assert (await bring(old, frontier)).skipped == 0
    payloads = b"".join(claim.request.payload for claim in await claims(frontier))
    assert b"a=1" in payloads
    assert b'{"a": 1}' in payloads


class Mark:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def plain(**fields: Any) -> bytes:
    return pickle.dumps(Request("http://a/x").to_dict() | fields)


SKIPPED = {
    "object": (pickle.dumps({"url": "http://a/", "meta": Path("a")}), "object of Python (pathlib"),
    "class": (plain(_class="os.system"), "(http://a/x) is a os.system; only the request classes"),
    "callback": (plain(callback="gone"), "has the callback 'gone', a method that the spider does"),
    "attribute": (plain(callback="name"), "has the callback 'name'"),
    "no method": (plain(errback="__class__"), "has the errback '__class__'"),
    "no name": (plain(callback=["parse"]), "has the callback ['parse']"),
    "url": (plain(url="no url"), "(no url) is not a Scrapy request: Missing scheme"),
    "no url": (pickle.dumps({"url": 7}), "is not a scrapy-redis request"),
    "meta": (plain(meta=7), "is not a Scrapy request"),
    "headers": (plain(headers=[7]), "is not a Scrapy request"),
    "priority": (plain(priority=2**63), "priority is 9223372036854775808"),
    "kind": (plain(meta={"weft_kind": "x"}), "meta['weft_kind'] is 'x'"),
    "list": (pickle.dumps(["http://a/"]), "is not a scrapy-redis request"),
    "text": (b"http://a/", "is a broken pickle"),
    "json": (b'{"url": "http://a/"', "is broken JSON"),
    "deep json": (b'{"url":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "entry 2 is"),
    "nothing": (b"", "is a broken pickle"),
}


@pytest.mark.parametrize("name", SKIPPED)
async def test_an_entry_that_cannot_be_read_is_skipped_and_told(old: Old, name: str) -> None:
    raw, reason = SKIPPED[name]
    old.enter(*entries("1"), raw, *entries("2"))
    frontier = memory()
    result = await bring(old, frontier)
    assert (result.queued, result.skipped) == (2, 1)
    [told] = result.reasons
    assert told.startswith("entry 2")
    assert reason in told
    assert await urls(frontier) == ["http://a/1", "http://a/2"]


def test_pickled_code_is_not_run(weft: Weft, tmp_path: Path, old: Old) -> None:
    (tmp_path / "walk.py").write_text(SPIDER)
    marks = [tmp_path / f"mark{number}" for number in range(8)]
    evil = [pickle.dumps({"url": f"http://a/{mark}", "meta": Mark(mark)}) for mark in marks]
    old.enter(*entries("1"), *evil, *entries("2"))
    told = weft("frontier", "import-scrapy-redis", "walk.py", "--from", old.url)
    assert told.returncode == 1
    assert "2 requests imported: .weft/walk" in told.stdout
    assert "8 entries were skipped" in told.stderr
    assert told.stderr.count("holds an object of Python (posix.mkdir)") == 5
    assert "and 3 more" in told.stderr
    assert "Traceback" not in told.stderr
    assert not any(mark.exists() for mark in marks)
    pickle.loads(evil[0])
    assert marks[0].exists()  # they would have


# The dupefilter


def half(old: Old) -> list[Request]:
    """Pages 0 to 9; of these 5 to 9 are queued, and the others fetched."""
    pages = [Request(f"http://a/{number}") for number in range(10)]
    old.enter(*map(entry, pages[5:]))
    old.know(*pages)
    return pages


async def test_what_was_fetched_is_known_and_what_is_queued_is_queued(old: Old) -> None:
    pages = half(old)
    frontier = memory()
    result = await bring(old, frontier)
    assert (result.queued, result.learned) == (5, 5)
    assert result.dupefilter is Dupefilter.LEARNED
    assert await add(frontier, *pages) == [AddStatus.KNOWN] * 10
    assert await add(frontier, Request("http://a/new")) == [AddStatus.QUEUED]
    assert await urls(frontier) == [*(page.url for page in pages[5:]), "http://a/new"]


class Cut(MemoryFrontier):
    """The process dies in a call, before or after it took effect."""

    def __init__(self, calls: int, *, is_after: bool) -> None:
        super().__init__(FrontierConfig(limits=HostLimits(concurrency=1_000_000)))
        self.calls = calls
        self.is_after = is_after

    def tick(self, *, is_after: bool) -> None:
        if is_after is self.is_after:
            self.calls -= 1
            if self.calls == 0:
                raise KeyboardInterrupt

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        self.tick(is_after=False)
        statuses = await super().add(requests)
        self.tick(is_after=True)
        return statuses

    async def learn(self, fingerprints: Sequence[int]) -> None:
        self.tick(is_after=False)
        await super().learn(fingerprints[::2])
        self.tick(is_after=True)
        await super().learn(fingerprints[1::2])


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("calls", [1, 2, 3, 4])
async def test_an_import_that_was_cut_short_is_done_again(
    old: Old, calls: int, is_after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "PAGE", 2)  # three times `add`, then `learn`
    pages = half(old)
    frontier = Cut(calls, is_after=is_after)
    with pytest.raises(KeyboardInterrupt):
        await bring(old, frontier)
    result = await bring(old, frontier)
    assert (result.read, result.learned) == (5, 5)
    assert await add(frontier, *pages) == [AddStatus.KNOWN] * 10
    assert await urls(frontier) == [page.url for page in pages[5:]]


async def test_skipped_entries_keep_the_dupefilter_out(old: Old) -> None:
    """Else they were known, and never queued, not even when they can be read."""
    pages = half(old)
    spider = old.spider
    lost = Request("http://a/lost", spider.parse_page)
    broken = pickle.dumps(lost.to_dict(spider=spider) | {"callback": "renamed"})
    old.enter(broken)
    old.know(lost)
    frontier = memory()
    result = await bring(old, frontier)
    assert (result.skipped, result.dupefilter) == (1, Dupefilter.LEFT_OUT)
    assert await add(frontier, pages[0]) == [AddStatus.QUEUED]
    old.client.lrem(KEYS.queue, 1, broken)  # type: ignore[arg-type]
    old.enter(entry(lost, spider))
    again = await bring(old, frontier)
    assert (again.queued, again.skipped, again.dupefilter) == (1, 0, Dupefilter.LEARNED)
    assert await add(frontier, *pages) == [AddStatus.KNOWN] * 10


async def test_skipped_entries_can_be_given_up(old: Old) -> None:
    pages = half(old)
    old.enter(b"broken")
    frontier = memory()
    result = await bring(old, frontier, is_giving_up=True)
    assert (result.skipped, result.dupefilter) == (1, Dupefilter.LEARNED)
    assert await add(frontier, *pages) == [AddStatus.KNOWN] * 10


@pytest.mark.parametrize(
    ("fingerprinter", "reason"),
    [
        (None, "Weft's own differ; set REQUEST_FINGERPRINTER_CLASS = "),
        ("scrapy.utils.request.RequestFingerprinter", "were not made by REQUEST_FINGERPRINTER_"),
    ],
)
async def test_a_dupefilter_with_other_fingerprints_is_refused_before_anything_is_written(
    old: Old, fingerprinter: str | None, reason: str
) -> None:
    half(old)
    frontier = memory()
    settings = {"REQUEST_FINGERPRINTER_CLASS": fingerprinter}
    with pytest.raises(ConfigError, match=reason):
        await bring(old, frontier, settings=settings)
    assert (await frontier.stats()).added == 0
    result = await bring(old, frontier, settings=settings, is_queue_only=True)
    assert (result.queued, result.dupefilter) == (5, Dupefilter.NOT_WANTED)


async def test_a_dupefilter_alone_can_be_brought(old: Old) -> None:
    pages = half(old)
    old.client.delete(KEYS.queue)
    old.client.sadd(KEYS.dupefilter, "no fingerprint", "a" * 39 + "X")
    frontier = memory()
    assert (await bring(old, frontier)).learned == 10
    assert await add(frontier, *pages) == [AddStatus.KNOWN] * 10


async def test_a_queue_alone_can_be_brought(old: Old) -> None:
    old.enter(*entries("1", "2"))
    result = await bring(old, memory(), settings={"REQUEST_FINGERPRINTER_CLASS": None})
    assert (result.queued, result.dupefilter) == (2, Dupefilter.EMPTY)


async def test_requests_come_with_the_host_keys_of_the_job(old: Old, weft: Weft) -> None:
    old.enter(*(entry(Request(f"http://{name}.example.org/")) for name in "ab"))
    (weft.directory / "walk.py").write_text(SPIDER)
    brought = weft(
        *("frontier", "import-scrapy-redis", "walk.py", "--from", old.url),
        *("--store", "rocks://job", "-s", "WEFT_HOST_KEY=domain"),
    )
    assert brought.returncode == 0, brought.stderr
    async with RocksFrontier(weft.directory / "job/frontier", is_read_only=True) as frontier:
        assert [(host.host, host.queued) for host in await frontier.hosts(9)] == [
            ("example.org", 2)
        ]
    again = weft(
        *("frontier", "import-scrapy-redis", "walk.py", "--from", old.url, "--store", "rocks://job")
    )
    assert again.returncode == 1
    assert "was started with WEFT_HOST_KEY = 'domain'" in again.stderr


async def test_unfiltered_requests_come_once_for_each_copy(old: Old) -> None:
    twice = entries("x", dont_filter=True) * 2
    old.enter(*twice, *entries("y", dont_filter=True), *entries("x"))
    frontier = memory()
    assert (await bring(old, frontier)).queued == 4
    again = await bring(old, frontier)
    assert (again.queued, again.known) == (0, 4)
    assert await urls(frontier) == ["http://a/x", "http://a/x", "http://a/y", "http://a/x"]


async def test_learned_fingerprints_take_eight_bytes_and_leave_nothing_behind(
    redis_server: RedisServer,
) -> None:
    async with RedisFrontier(redis_server.url, "job") as frontier:
        await frontier.learn([number**7 % 2**63 for number in range(1, 20_000)])
        with redis_server.client() as client:
            sets = sorted(client.scan_iter("weft:{job}:known:*"))
            assert len(sets) == 79
            assert {client.object("encoding", key) for key in sets} == {"intset"}
        async with RedisFrontier(redis_server.url, "job") as other:
            known = PackedRequest(3**7, "http://a/", "a")
            assert await other.add([known]) == [AddStatus.KNOWN]
        await frontier.clear()
    assert all_keys(redis_server) == []


# The command


def test_a_rehearsal_writes_nothing(weft: Weft, tmp_path: Path, old: Old) -> None:
    (tmp_path / "walk.py").write_text(SPIDER)
    half(old)
    before = old.everything()
    command = ("frontier", "import-scrapy-redis", "walk.py", "--from", old.url, "--dry-run")
    told = weft(*command)
    assert told.returncode == 0, told.stderr
    assert "5 requests would be imported" in told.stdout
    assert "5 pages that scrapy-redis had fetched would be marked as known" in told.stdout
    assert not (tmp_path / ".weft").exists()
    assert old.everything() == before


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("walk.py", "--from", "rocks://x"), "not the address of a Redis"),
        (("http://a/", "--from", "OLD"), "http://a/ is not a spider"),
        (("gone.py", "--from", "OLD"), "there is no file gone.py"),
        (("walk.py", "--from", "OLD"), "has neither a queue walk:requests nor a dupefilter"),
        (("walk.py", "--from", "OLD", "--queue-key", "%(name)s"), "it may only contain %(spider)s"),
        (("walk.py", "--from", "OLD", "--queue-key", "text"), "text is a string, and a queue"),
        (("walk.py", "--from", "OLD", "--dupefilter-key", "text"), "text is a string, and the"),
        (("walk.py", "--from", "OLD", "-s", "SCHEDULER=x"), "remove SCHEDULER from its settings"),
        (("needy.py", "--from", "OLD"), "cannot be made: TypeError"),
    ],
)
def test_mistakes_are_told_with_their_cure(
    weft: Weft, tmp_path: Path, old: Old, options: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "walk.py").write_text(SPIDER)
    needy = "    def __init__(self, site, **kwargs): super().__init__(**kwargs)"
    (tmp_path / "needy.py").write_text(SPIDER + needy)
    old.client.set("text", "x")
    words = [old.url if option == "OLD" else option for option in options]
    told = weft("frontier", "import-scrapy-redis", *words)
    assert told.returncode == 1
    assert reason in told.stderr
    assert "Traceback" not in told.stderr
    assert not (tmp_path / ".weft").exists()


def test_keys_are_the_users_or_the_projects_or_the_usual_ones() -> None:
    def keys(settings: dict[str, str], queue: str | None = None) -> Keys:
        return find_keys(Settings(settings), "walk", queue, None, is_lifo=False)

    assert keys({}) == KEYS
    own = {"SCHEDULER_QUEUE_KEY": "q:%(spider)s", "SCHEDULER_DUPEFILTER_KEY": "d"}
    assert keys(own) == Keys("q:walk", "d")
    assert keys(own, "mine") == Keys("mine", "d")
    assert keys({"SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.SpiderStack"}).is_lifo


async def test_an_empty_place_is_told(old: Old) -> None:
    with pytest.raises(StoreMissingError, match="name them with --queue-key"):
        await bring(old, memory())

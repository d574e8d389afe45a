"""The contestants: each as the command that its user would type.

All have the same settings: number of concurrent requests, no robots.txt, no cookies, warnings only.
Otherwise each has its defaults, and what its documentation recommends for speed.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import ConfigError

_FILES = Path(__file__).with_name("contestants")
_SPIDER = _FILES / "ordinary.py"
_SCRAPYS_IMPORT = "from scrapy.linkextractors import LinkExtractor"
_OUR_IMPORT = "from weft import LinkExtractor"
_HAS_PACKAGE = "import sys, importlib.util as u; sys.exit(u.find_spec(sys.argv[1]) is None)"

Command = Sequence[str | Path]


class Pace(NamedTuple):
    """How fast a contestant may go, over all its workers."""

    concurrency: int = 16
    per_host: int = 16
    delay_s: float = 0.0


class Plan(NamedTuple):
    """The plan of one crawl."""

    urls: Sequence[str]
    pace: Pace
    #: Where it runs and writes its output.
    directory: Path
    workers: int
    #: Empty if the contestant needs none.
    redis_url: str
    #: The Python of contestants outside our virtual environment.
    peers: Path

    @property
    def outputs(self) -> list[Path]:
        return [self.directory / f"out-{number}.jsonl" for number in self._numbers]

    @property
    def _numbers(self) -> range:
        return range(1, self.workers + 1)

    def scrapy_settings(self) -> dict[str, Any]:
        """For each worker: together they should be as fast as one worker of another contestant."""
        return {
            "LOG_LEVEL": "WARNING",
            "COOKIES_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": self.pace.concurrency // self.workers,
            "CONCURRENT_REQUESTS_PER_DOMAIN": max(1, self.pace.per_host // self.workers),
            "DOWNLOAD_DELAY": self.pace.delay_s,
            "RANDOMIZE_DOWNLOAD_DELAY": False,
        }

    def write(self) -> Path:
        """Write the file that contestants read; see `contestants`."""
        told = {
            "urls": list(self.urls),
            "outputs": [str(output) for output in self.outputs],
            "redis": self.redis_url,
            "scrapy": self.scrapy_settings(),
            **self.pace._asdict(),
        }
        file = self.directory / "plan.json"
        file.write_text(json.dumps(told))
        return file


class Contestant(NamedTuple):
    name: str
    label: str
    commands: Callable[[Plan], list[Command]]
    #: The package that it uses.
    package: str
    #: Approximate CPU milliseconds for a page of 30 KB, to estimate the duration.
    usual_ms: float
    #: Approximate seconds before and after a crawl.
    usual_s: float = 1.5
    workers: int = 1
    has_redis: bool = False
    #: Whether it is in the virtual environment of the peers.
    is_peer: bool = False

    def is_installed(self, peers: Path) -> bool:
        if not self.is_peer:
            return find_spec(self.package) is not None
        try:
            asked = subprocess.run([peers, "-c", _HAS_PACKAGE, self.package], capture_output=True)
        except OSError as problem:
            raise ConfigError(f"--peers {peers}: {problem.strerror}; name a Python") from problem
        return asked.returncode == 0


def default_peers() -> Path:
    """The one that `make bench` made, or else our own."""
    made = Path(".venv-peers/bin/python").absolute()
    return made if made.exists() else Path(sys.executable)


# Weft


def _weft(plan: Plan, *more: str | Path) -> Command:
    pace = plan.pace
    limits = {
        "ROBOTSTXT_OBEY": False,
        "CONCURRENT_REQUESTS": pace.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": pace.per_host,
        "DOWNLOAD_DELAY": pace.delay_s,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
    }
    weft = Path(sys.executable).with_name("weft")
    return [weft, "crawl", *plan.urls, "-o", plan.outputs[0], *_set(limits), *more]


def _embedded(plan: Plan) -> list[Command]:
    return [_weft(plan)]


def _on_redis(plan: Plan) -> list[Command]:
    workers = str(plan.workers)
    # A single host would have only one worker.
    per_host = workers if len(plan.urls) == 1 else "1"
    shared = ("--store", plan.redis_url, "--workers", workers, "--workers-per-host", per_host)
    return [_weft(plan, *shared)]


def _with_private_server(plan: Plan) -> list[Command]:
    return [_weft(plan, "--workers", str(plan.workers))]


def _by_weft_crawl(plan: Plan) -> list[Command]:
    """The spider file of plain Scrapy, with its settings."""
    weft = Path(sys.executable).with_name("weft")
    words = ["-a", f"urls={' '.join(plan.urls)}", *_set(plan.scrapy_settings())]
    return [[weft, "crawl", _SPIDER, "-o", plan.outputs[0], *words]]


def _addon(plan: Plan, spider: Path = _SPIDER) -> list[Command]:
    ours = {"ADDONS": '{"weft.Addon": 500}', "WEFT_SINKS": plan.outputs[0]}
    return [[*_scrapy(plan, spider), *_set(ours)]]


def _addon_links(plan: Plan) -> list[Command]:
    """The same file, except for one line."""
    text = _SPIDER.read_text()
    spider = plan.directory / "changed.py"
    spider.write_text(text.replace(_SCRAPYS_IMPORT, _OUR_IMPORT))
    return _addon(plan, spider)


# The others


def _scrapy(plan: Plan, spider: Path) -> Command:
    words = ["-a", f"urls={' '.join(plan.urls)}", *_set(plan.scrapy_settings())]
    return [sys.executable, "-m", "scrapy", "runspider", spider, *words]


def _plain(plan: Plan) -> list[Command]:
    return [[*_scrapy(plan, _SPIDER), "-O", plan.outputs[0]]]


def _scrapy_redis(plan: Plan) -> list[Command]:
    program, file = _FILES / "shared.py", plan.write()
    return [[sys.executable, program, file, str(number)] for number in range(1, plan.workers + 1)]


def _handwritten(plan: Plan) -> list[Command]:
    return [[sys.executable, _FILES / "handwritten.py", plan.write()]]


def _native(plan: Plan) -> list[Command]:
    return [[*command, "native"] for command in _handwritten(plan)]


def _crawlee(plan: Plan) -> list[Command]:
    return [[plan.peers, _FILES / "parsel_crawler.py", plan.write()]]


def _feapder(plan: Plan) -> list[Command]:
    return [[plan.peers, _FILES / "threads.py", plan.write()]]


def _set(settings: Mapping[str, Any]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


CONTESTANTS: Mapping[str, Contestant] = {
    each.name: each
    for each in (
        Contestant("weft", "Weft, embedded", _embedded, "weft", 2.5),
        Contestant(
            "weft-redis-1", "Weft on Redis, 1 worker", _on_redis, "weft", 2.5, 3, has_redis=True
        ),
        Contestant(
            *("weft-redis-2", "Weft on Redis, 2 workers", _on_redis, "weft", 2.5, 4),
            workers=2,
            has_redis=True,
        ),
        Contestant(
            *("weft-workers-2", "Weft, 2 workers and their server", _with_private_server, "weft"),
            *(2.5, 2),
            workers=2,
        ),
        Contestant("weft-spider", "Scrapy spider, weft crawl", _by_weft_crawl, "weft", 10),
        Contestant("addon", "Scrapy spider on Weft, unchanged", _addon, "weft", 10),
        Contestant("addon-links", "the same with weft.LinkExtractor", _addon_links, "weft", 5),
        Contestant("scrapy", "plain Scrapy", _plain, "scrapy", 16),
        Contestant(
            *("scrapy-redis-1", "scrapy-redis, 1 worker", _scrapy_redis, "scrapy_redis", 25, 9),
            has_redis=True,
        ),
        Contestant(
            *("scrapy-redis-2", "scrapy-redis, 2 workers", _scrapy_redis, "scrapy_redis", 25, 9),
            workers=2,
            has_redis=True,
        ),
        Contestant("crawlee", "Crawlee for Python", _crawlee, "crawlee", 8, 2, is_peer=True),
        Contestant("feapder", "feapder, in memory", _feapder, "feapder", 7, 7, is_peer=True),
        Contestant(
            *("feapder-redis", "feapder on Redis", _feapder, "feapder", 12, 13),
            has_redis=True,
            is_peer=True,
        ),
        Contestant("handwritten", "aiohttp, by hand", _handwritten, "aiohttp", 1.2, 1),
        Contestant("native", "the same with can_ada for URLs", _native, "aiohttp", 1.2, 1),
    )
}

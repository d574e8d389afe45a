import gc
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import nursery
from bench.crawlers.nginx import find_nginx
from launchers.redis import RedisServer
from running import Weft
from servers import SETUPS, Kit, Servers, emptied, skipped_if_missing
from weft.testing import Site, SiteServer
from weft.testing.site.server import ServerProcess

# `bench` and `launchers` stand beside `tests`, for programs that tests start, too.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
pytest.register_assert_rewrite("frontier_machine", "invariants")
# A shell lets what it starts in the background ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How long an example takes depends on what else runs.
settings.register_profile("weft", deadline=None)
settings.load_profile("weft")


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests themselves: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """A reactor stays to the end of the process, and later tests here need one without."""
    if sys.modules.pop("twisted.internet.reactor", None) is not None:
        pytest.fail(f"{item.nodeid} installed a Twisted reactor: crawl in a process of its own")


@pytest.fixture
def weft(tmp_path: Path) -> Weft:
    return Weft(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _quick_sites() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerProcess, "popen", nursery.Popen)
        yield


@pytest.fixture
def _fresh_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users start it."""
    monkeypatch.setattr(nursery, "IS_THERE", False)


@pytest.fixture
def rng() -> random.Random:
    """Random, but repeatable: the seed is printed when a test fails; WEFT_TEST_SEED sets it."""
    seed = int(os.environ.get("WEFT_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"seed {seed}; repeat with WEFT_TEST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    started = Servers()
    yield started
    started.stop()


@pytest.fixture
def redis_server(servers: Servers) -> Iterator[RedisServer]:
    """An empty Redis; whatever is in it afterwards must fit the schema."""
    server = servers.get("redis")
    assert isinstance(server, RedisServer)
    with emptied(server):
        yield server


@pytest.fixture(params=SETUPS)
def setup(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Kit]:
    """Each of the set-ups in turn, empty."""
    with emptied(servers.get(request.param)) as kit:
        yield kit


@pytest.fixture(scope="session")
def plain_server() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=10, links=3, redirects_every=4)) as server:
        yield server


@pytest.fixture
def site(plain_server: SiteServer) -> SiteServer:
    """Ten pages that nothing is wrong with, and an empty log; pages 4 and 8 are redirected to."""
    plain_server.forget()
    return plain_server


@pytest.fixture
def nginx() -> None:
    """What `make bench` has its pages from: missing on a laptop, but not where changes land."""
    with skipped_if_missing():
        find_nginx()

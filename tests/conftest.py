import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from running import Weft
from weft.testing import Site, SiteServer


@pytest.fixture
def weft(tmp_path: Path) -> Weft:
    return Weft(tmp_path)


@pytest.fixture
def rng() -> random.Random:
    """Random, but repeatable: the seed is printed when a test fails; WEFT_TEST_SEED sets it."""
    seed = int(os.environ.get("WEFT_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"seed {seed}; repeat with WEFT_TEST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def plain_server() -> Iterator[SiteServer]:
    with SiteServer(Site(pages=10, links=3, redirects_every=4)) as server:
        yield server


@pytest.fixture
def site(plain_server: SiteServer) -> SiteServer:
    """Ten pages that nothing is wrong with, and an empty log; pages 4 and 8 are redirected to."""
    plain_server.forget()
    return plain_server

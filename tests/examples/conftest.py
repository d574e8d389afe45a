import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
BOOKSHOP = Path(__file__).parents[2] / "examples/bookshop"

OpenShop = Callable[[str], AbstractContextManager[str]]


#: `python`, `weft` and `scrapy` are ours, and leave nothing beside the examples' files.
ENVIRONMENT = {"PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def open_shop() -> OpenShop:
    """Runs the command that opens the shop, but for its port; gives its address."""

    @contextmanager
    def run(command: str) -> Iterator[str]:
        with subprocess.Popen(
            [*shlex.split(command), "--port", "0"],
            cwd=BOOKSHOP,
            env=os.environ | ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                said = process.stdout.readline()
                yield said.removeprefix("The shop is open at ").partition(";")[0]
            finally:
                process.kill()

    return run


@pytest.fixture(scope="module")
def shop(open_shop: OpenShop) -> Iterator[str]:
    """A shop with 800 books: 133 or 134 in each category, on five pages."""
    with open_shop("python -m offline_shop --books 800") as url:
        yield url

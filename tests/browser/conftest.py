from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from browser.appsite import APP_SITE
from browser.browserkit import Browser
from rawserver import RawServer
from servers import skipped_if_missing
from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.finding import check_browser


@pytest.fixture(scope="session")
def has_chromium() -> None:
    """Missing on a laptop, but not where changes land."""
    with skipped_if_missing():
        check_browser(BrowserConfig())


@pytest.fixture
def app(has_chromium: None) -> Iterator[RawServer]:
    with RawServer(APP_SITE) as server:
        yield server


@pytest.fixture
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """Settings of Scrapy, or those of the browser, as its parameter."""
    given: dict[str, Any] = getattr(request, "param", {})
    ours = {name: value for name, value in given.items() if name.islower()}
    theirs = {name: value for name, value in given.items() if name.isupper()}
    made = Browser(BrowserConfig(**ours), theirs)
    yield made
    await made.handler.close()

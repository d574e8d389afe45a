"""A running browser, with the driver through which Playwright speaks to it.

The driver ends when its pipe closes, and the browser with it: a worker that is killed leaves none.
"""

import asyncio
import os
from contextlib import suppress
from typing import Any, Protocol, Self

from playwright.async_api import (
    Browser,
    BrowserContext,
    Error,
    Playwright,
    async_playwright,
)

from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.finding import find_program
from weft.engine.browser.problems import BrowserCrashError, start_problem

#: How long a browser may take to start, and to end.
START_S = 60.0
END_S = 10.0

_ARGUMENTS = (
    # Neither shown nor loaded; pages need not be told.
    *("--disable-remote-fonts", "--mute-audio", "--block-new-web-contents"),
    # A page that wants more crashes, alone.
    "--js-flags=--max-old-space-size=1024",
)


class OpenPage(Protocol):
    """What is told that the browser is gone."""

    def end(self, result: Any) -> None: ...


class Chromium:
    def __init__(self, driver: Playwright, browser: Browser, max_pages: int) -> None:
        self._driver = driver
        self._browser = browser
        self._left = max_pages
        #: Pages that are open.
        self.visits: set[OpenPage] = set()
        #: It should open no more pages.
        self.is_broken = False
        browser.on("disconnected", self._note_gone)

    @classmethod
    async def start(cls, config: BrowserConfig) -> Self:
        """Raises ConfigError or BrowserCrashError."""
        driver: Playwright | None = None
        try:
            async with asyncio.timeout(START_S):
                driver = await _start_driver()
                browser = await driver.chromium.launch(
                    executable_path=find_program(config),
                    args=_ARGUMENTS,
                    chromium_sandbox=config.has_sandbox and not _is_root(),
                    env=_environment(),
                    # Ctrl-C is the crawl's affair, which ends the browser when it has ended.
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                return cls(driver, browser, config.pages_per_browser)
        except BaseException as error:
            if driver is not None:
                await _stop(driver)
            if isinstance(error, TimeoutError):
                problem = f"the browser does not start within {START_S:g} s"
                raise BrowserCrashError(problem) from error
            if isinstance(error, Error):
                raise start_problem(error.message) from error
            raise

    @property
    def is_usable(self) -> bool:
        return self._left > 0 and not self.is_broken and self._browser.is_connected()

    async def new_context(self, options: dict[str, Any]) -> BrowserContext:
        self._left -= 1
        return await self._browser.new_context(**options)

    async def close(self) -> None:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(END_S):
                await self._browser.close()
        await _stop(self._driver)

    def _note_gone(self, browser: Browser) -> None:
        self.is_broken = True
        for visit in [*self.visits]:
            visit.end(BrowserCrashError("the browser crashed, or was killed"))


async def _start_driver() -> Playwright:
    """Ctrl-C reaches all processes of a terminal, and ends a driver that is not yet ready to ignore
    it. Pages that are under way are finished all the same, so it is started again."""
    with suppress(BrowserCrashError):
        return await _try_driver()
    return await _try_driver()


async def _try_driver() -> Playwright:
    try:
        return await async_playwright().start()
    except Error:
        raise
    except Exception as error:  # Playwright has no class of its own for a driver that is gone
        raise BrowserCrashError(f"the browser does not start: {error}") from error


async def _stop(driver: Playwright) -> None:
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(END_S):
            await driver.stop()


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _environment() -> dict[str, str | float | bool]:
    """Only requests say which proxy to take."""
    return {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }

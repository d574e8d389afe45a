"""The browser ends in the middle: that costs the pages that it had open."""

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import DownloadFailedError

from browser.browserkit import Browser, browsers_of, driver_of, drivers_of, is_alive, renderers_of
from rawserver import RawServer
from weft.engine.browser.browsers import Browsers
from weft.engine.browser.config import BrowserConfig
from weft.engine.browser.problems import BrowserCrashError
from weft.engine.politeness import stops
from weft.testing import until

if TYPE_CHECKING:
    from scrapy.http import Response


async def start(browser: Browser, app: RawServer, path: str) -> "asyncio.Task[Response]":
    """Once the site has been asked for it."""
    count = len(app.requests)
    task = asyncio.ensure_future(browser.fetch(app.url + path))
    await until(lambda: len(app.requests) > count, f"the site is asked for {path}")
    return task


async def test_a_browser_that_is_killed_costs_its_pages_and_another_takes_its_place(
    browser: Browser, app: RawServer
) -> None:
    tasks = [await start(browser, app, "silent"), await start(browser, app, "silent")]
    [chromium] = browsers_of()
    chromium.kill()
    for task in tasks:
        with pytest.raises(BrowserCrashError, match="crashed, or was killed"):
            await task
    assert (await browser.fetch(f"{app.url}gbk")).status == 200
    # The dead one is listed until the system has cleaned up.
    await until(lambda: len(browsers_of()) == 1, "one browser is left")
    [another] = browsers_of()
    assert another.pid != chromium.pid


async def test_a_page_whose_process_is_killed_fails_alone(browser: Browser, app: RawServer) -> None:
    task = asyncio.ensure_future(browser.fetch(f"{app.url}half"))
    await until(lambda: b"/silent" in b"".join(app.requests), "the page is shown")
    [chromium] = browsers_of()
    for renderer in renderers_of():
        renderer.kill()
    with pytest.raises(BrowserCrashError, match="the page crashed"):
        await task
    assert (await browser.fetch(f"{app.url}gbk")).status == 200
    assert browsers_of() == [chromium]


@pytest.mark.parametrize("browser", [{"DOWNLOAD_TIMEOUT": 10}], indirect=True)
async def test_a_driver_that_is_killed_takes_its_browser_with_it(
    browser: Browser, app: RawServer
) -> None:
    task = await start(browser, app, "silent")
    [chromium] = browsers_of()
    driver_of(chromium).kill()
    with pytest.raises(DownloadFailedError):
        await task
    assert (await browser.fetch(f"{app.url}gbk")).status == 200
    await until(lambda: not is_alive(chromium), "its browser has ended")


async def test_a_driver_that_hears_ctrl_c_while_it_starts_is_started_again(
    browser: Browser, app: RawServer
) -> None:
    """The terminal tells it to all of its processes, and a driver cannot ignore it at once."""
    before = set(drivers_of())
    task = asyncio.ensure_future(browser.fetch(f"{app.url}gbk"))
    await until(lambda: set(drivers_of()) > before, "the driver starts")
    [driver] = set(drivers_of()) - before
    driver.send_signal(signal.SIGINT)
    assert (await task).status == 200
    assert not is_alive(driver)


@pytest.mark.parametrize("browser", [{"pages": 2, "DOWNLOAD_TIMEOUT": 4}], indirect=True)
async def test_no_more_pages_are_open_than_there_may(browser: Browser, app: RawServer) -> None:
    first = [await start(browser, app, "silent"), await start(browser, app, "silent")]
    third = await start(browser, app, "silent")
    assert any(task.done() for task in first)
    await asyncio.gather(*first, third, return_exceptions=True)


@pytest.mark.parametrize("browser", [{"pages_per_browser": 2}], indirect=True)
async def test_a_browser_that_has_had_many_pages_is_replaced(
    browser: Browser, app: RawServer
) -> None:
    await browser.fetch(f"{app.url}feed")
    [old] = browsers_of()
    await browser.fetch(f"{app.url}feed")
    await browser.fetch(f"{app.url}feed")
    await until(lambda: not is_alive(old), "the old browser has ended")
    assert len(browsers_of()) == 1


async def test_a_browser_without_pages_ends(has_chromium: None) -> None:
    browsers = Browsers(BrowserConfig(), idle_s=0)
    async with browsers.lend():
        [chromium] = browsers_of()
    await until(lambda: not is_alive(chromium), "it has ended")
    async with browsers.lend():
        assert len(browsers_of()) == 1
    await browsers.close()
    assert browsers_of() == []


async def test_pages_are_cut_off_when_the_leases_are_lost(browser: Browser, app: RawServer) -> None:
    task = await start(browser, app, "silent")
    for each in [*stops.cuttables]:
        each.cut()
    with pytest.raises(DownloadFailedError, match="cut off"):
        await task


async def test_a_crawl_that_ends_takes_its_browser_with_it(
    browser: Browser, app: RawServer
) -> None:
    task = await start(browser, app, "silent")
    [chromium] = browsers_of()
    await browser.handler.close()
    assert not is_alive(chromium)
    with pytest.raises(DownloadFailedError):
        await task
    with pytest.raises(DownloadFailedError, match="being closed"):
        await browser.fetch(f"{app.url}app")

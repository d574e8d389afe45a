"""One page in the browser: opened in a context of its own, and read when it has settled.

A context shares nothing with others: no cookies, no storage, no cache. It is closed when the page
has been read, or can no longer be.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error, Page
from playwright.async_api import TimeoutError as NotInTimeError
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError

from weft.clock import monotonic_s
from weft.engine.browser.answer import AnswerHead, BrowserAnswer, too_large
from weft.engine.browser.chromium import Chromium
from weft.engine.browser.outgoing import OutgoingPage
from weft.engine.browser.problems import BrowserCrashError, page_problem
from weft.engine.browser.traffic import PageTraffic
from weft.engine.http.connection import CUT_OFF
from weft.engine.politeness import stops

#: A page that can be read, but is still loading, is waited for no longer than this.
LOAD_S = 15.0
#: The part of its time that it may take for that; the rest is for reading it.
LOAD_SHARE = 0.8
#: How long to wait for a page to close; one that is caught in a loop may not.
CLOSE_S = 5.0

# What is read has become UTF-8, and links count from where the page says it is.
_READ = """(() => {
    for (const meta of document.querySelectorAll("meta[charset]"))
        meta.setAttribute("charset", "utf-8");
    for (const meta of document.querySelectorAll('meta[http-equiv="content-type" i]'))
        meta.setAttribute("content", "text/html; charset=utf-8");
    const address = %s;
    if (document.head && !document.querySelector("base[href]")
            && document.baseURI.split("#")[0] !== new URL(address).href) {
        const base = document.createElement("base");
        base.setAttribute("href", document.baseURI);
        document.head.prepend(base);
    }
    const page = document.documentElement ? document.documentElement.outerHTML : "";
    if (%d > 0 && page.length > %d)
        return page.length;
    return (document.doctype ? "<!DOCTYPE html>" : "") + page;
})()"""


class BrowserVisit:
    """`stops.Cuttable`."""

    def __init__(
        self,
        outgoing: OutgoingPage,
        timeout_s: float,
        max_bytes: int,
        settle_s: float,
        hold_s: Callable[[], float],
        cuts: int,
    ) -> None:
        """`hold_s` says how long to hold back the page that could be sent now; `cuts`: after
        another cut it is not sent."""
        self._outgoing = outgoing
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._settle_s = settle_s
        self._hold_s = hold_s
        self._cuts = cuts
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[BrowserAnswer] = self._loop.create_future()
        self._sent_at_s = 0.0
        self._answered_at_s = 0.0

    @property
    def latency_s(self) -> float:
        """From sending to the answer; 0: there was none."""
        return max(0.0, self._answered_at_s - self._sent_at_s)

    async def answer(self, chromium: Chromium) -> BrowserAnswer:
        """Raises one of Scrapy's errors of downloads."""
        began_s = monotonic_s()
        context: BrowserContext | None = None
        stops.cuttables.add(self)
        chromium.visits.add(self)
        try:
            async with asyncio.timeout(self._timeout_s):
                context = await chromium.new_context(self._outgoing.context)
                return await self._until_end(self._open(context, began_s))
        except TimeoutError as error:
            if context is None:
                chromium.is_broken = True
            problem = (
                f"Getting {self._outgoing.url} by the browser took longer than "
                f"{self._timeout_s} seconds."
            )
            raise DownloadTimeoutError(problem) from error
        except Error as error:
            if context is None or _is_lost(error):
                chromium.is_broken = True
                raise BrowserCrashError(f"the browser opens no page: {error.message}") from error
            raise page_problem(self._outgoing.url, error.message) from error
        finally:
            chromium.visits.discard(self)
            stops.cuttables.discard(self)
            if context is not None:
                await _close(context, chromium)

    def end(self, result: BrowserAnswer | Exception) -> None:
        """The first end counts."""
        if self._ended.done():
            return
        self._answered_at_s = self._answered_at_s or monotonic_s()
        if isinstance(result, Exception):
            self._ended.set_exception(result)
            self._ended.exception()  # it may be that nobody waits any more
        else:
            self._ended.set_result(result)

    # For cutting it off

    @property
    def has_unsent(self) -> bool:
        return not self._sent_at_s

    def cut(self) -> None:
        self._loop.call_soon_threadsafe(self.end, DownloadFailedError(CUT_OFF))

    # The page

    async def _until_end(self, work: Awaitable[BrowserAnswer]) -> BrowserAnswer:
        """What `work` gives, unless the end comes before."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait((task, self._ended), return_when=asyncio.FIRST_COMPLETED)
            return await (self._ended if self._ended.done() else task)
        finally:
            task.cancel()
            task.add_done_callback(_forget)

    async def _open(self, context: BrowserContext, began_s: float) -> BrowserAnswer:
        if self._outgoing.cookies:
            await context.add_cookies(self._outgoing.cookies)  # type: ignore[arg-type]
        page = await context.new_page()
        page.on("crash", lambda page: self.end(BrowserCrashError("the page crashed the browser")))
        context.on("page", _close_window)
        session = await context.new_cdp_session(page)
        tree = await session.send("Page.getFrameTree")
        frame: str = tree["frameTree"]["frame"]["id"]
        traffic = PageTraffic(
            *(session, frame, self._max_bytes),
            *(self._wait_to_send, self._outgoing.headers, self.end),
        )
        try:
            await traffic.start()
            return await self._show(page, session, frame, traffic, began_s)
        finally:
            traffic.stop()

    async def _wait_to_send(self) -> None:
        hold_s = self._hold_s()
        while hold_s > 0:
            await asyncio.sleep(hold_s)
            hold_s = self._hold_s()
        self._sent_at_s = monotonic_s()
        if stops.is_cutting() or stops.cut_count() != self._cuts:
            raise DownloadFailedError(CUT_OFF)

    async def _show(
        self, page: Page, session: CDPSession, frame: str, traffic: PageTraffic, began_s: float
    ) -> BrowserAnswer:
        try:
            await page.goto(self._outgoing.url, wait_until="commit", timeout=0)
            self._answered_at_s = monotonic_s()
            await self._wait_for_page(traffic)
            until_s = min(monotonic_s() + LOAD_S, began_s + LOAD_SHARE * self._timeout_s)
            await self._settle(page, traffic, until_s)
            await self._wait_for_page(traffic)  # it may have loaded itself again
            if not traffic.is_ending:
                body = await self._read(session, frame)
                head = traffic.head or AnswerHead(200, {})
                return BrowserAnswer(head, traffic.cookies, body, is_rendered=True)
        except Error:
            if not traffic.is_ending:
                raise
        return await self._ended

    async def _settle(self, page: Page, traffic: PageTraffic, until_s: float) -> None:
        await self._first(self._wait_for_rest(page, until_s), traffic.has_enough.wait())

    async def _wait_for_page(self, traffic: PageTraffic) -> None:
        await self._first(traffic.is_whole.wait(), traffic.has_enough.wait())

    async def _first(self, *works: Awaitable[Any]) -> None:
        """Until one of them, or the visit, has ended."""
        tasks = [asyncio.ensure_future(work) for work in works]
        try:
            await asyncio.wait((*tasks, self._ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
                task.add_done_callback(_forget)

    async def _wait_for_rest(self, page: Page, until_s: float) -> None:
        with suppress(NotInTimeError):
            await page.wait_for_load_state("load", timeout=_left_ms(until_s))
        until_s = min(until_s, monotonic_s() + self._settle_s)
        with suppress(NotInTimeError):
            await page.wait_for_load_state("networkidle", timeout=_left_ms(until_s))

    async def _read(self, session: CDPSession, frame: str) -> bytes:
        """In a world of its own, where scripts of the page have changed nothing."""
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        limit = self._max_bytes
        told = await session.send(
            "Runtime.evaluate",
            {
                "expression": _READ % (json.dumps(self._outgoing.url), limit, limit),
                "contextId": world["executionContextId"],
                "returnByValue": True,
            },
        )
        page = told["result"].get("value", "")
        if isinstance(page, str):
            body = page.encode("utf-8", "replace")
            if not 0 < limit < len(body):
                return body
            page = len(body)
        raise too_large(self._outgoing.url, int(page), limit)


def _is_lost(error: Error) -> bool:
    """Whether there is nobody to talk to any more. Playwright does not publish the class."""
    return type(error).__name__ == "TargetClosedError"


def _left_ms(until_s: float) -> float:
    """For Playwright, which takes 0 for ever."""
    return max(1.0, 1000 * (until_s - monotonic_s()))


async def _close(context: BrowserContext, chromium: Chromium) -> None:
    try:
        async with asyncio.timeout(CLOSE_S):
            await context.close()
    except TimeoutError:
        chromium.is_broken = True
    except Error:
        pass  # the browser is gone, and its pages with it


async def _close_window(page: Page) -> None:
    with suppress(Error):
        await page.close()


def _forget(task: asyncio.Future[Any]) -> None:
    """Nobody asks for its error any more."""
    if not task.cancelled():
        task.exception()

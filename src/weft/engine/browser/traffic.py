"""What a page in the browser may load, and what its site answers.

The browser stops before each request of the page, and before it reads the answer to the page
itself, and does what is said here. The first request is that of the page: it waits until its host
may be asked. Its answer is looked at before anything is shown: redirects and files need no showing.

Scripts, styles and data are loaded, up to a number and a size; frames, fonts and films are not, and
every picture is the same dot, so that scripts do not take it for missing. A document that a script
wants to open is not loaded, but for the same page once more: whatever else it is, the crawl may
know it, its host has a budget, and a robots.txt.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, ResponseDataLossError

from weft.engine.browser.answer import AnswerHead, BrowserAnswer, script_redirect, too_large

#: Requests of a page, beside itself.
MAX_REQUESTS = 300
#: What a page may load, or ask for, in all. Then its scripts are stopped, and it is read as it is.
MAX_BYTES = 50_000_000
MAX_WISHES = 1_000
#: How often a page may load itself again, as those do that test the browser first.
MAX_RELOADS = 2
#: A body is read in pieces of this size.
PIECE_BYTES = 262_144
#: Cookies of an answer come on a way of their own, at about the same time.
COOKIES_S = 0.5

_WANTED = frozenset(("Script", "Stylesheet", "XHR", "Fetch", "EventSource"))
_DOT = base64.b64encode(
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,"
    b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
).decode()
_PATTERNS = [
    {"urlPattern": "*"},
    {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"},
]
_STOP_SCRIPTS = "Emulation.setScriptExecutionDisabled"
# New windows would load pages that nobody looks at, and one that closes itself looks like a crash.
_NO_WINDOWS = "window.open = window.close = () => null"

#: What the browser tells of a request that it has stopped.
Paused = dict[str, Any]


class PageTraffic:
    def __init__(
        self,
        session: CDPSession,
        frame: str,
        max_bytes: int,
        before_sending: Callable[[], Awaitable[None]],
        headers: dict[str, str],
        end: Callable[[BrowserAnswer | Exception], None],
    ) -> None:
        """`frame` is that of the page. `end` is called with an answer that needs no showing, or
        with an error, which `before_sending` may raise."""
        self._session = session
        self._frame = frame
        self._max_bytes = max_bytes
        self._before_sending = before_sending
        self._headers = headers
        self._end = end
        #: The answer that is being shown.
        self.head: AnswerHead | None = None
        #: There will be an end, whatever the browser says of the page.
        self.is_ending = False
        #: The page has come, but perhaps not all that it loads.
        self.is_whole = asyncio.Event()
        #: It has loaded as much as it may.
        self.has_enough = asyncio.Event()
        self._url = ""
        self._main = ""
        self._visits = 0
        self._wishes = 0
        self._requests = 0
        self._size_bytes = 0
        self._main_bytes = 0
        self._cookies: tuple[str, ...] = ()
        self._has_cookies = asyncio.Event()
        self._tasks: set[asyncio.Future[Any]] = set()

    async def start(self) -> None:
        session = self._session
        session.on("Fetch.requestPaused", self._note_paused)
        session.on("Network.dataReceived", self._note_data)
        session.on("Network.responseReceivedExtraInfo", self._note_head)
        session.on("Network.loadingFinished", self._note_whole)
        session.on("Network.loadingFailed", self._note_loss)
        await session.send("Network.enable")
        await session.send("Page.enable")
        await session.send("Page.addScriptToEvaluateOnNewDocument", {"source": _NO_WINDOWS})
        await session.send("Fetch.enable", {"patterns": _PATTERNS})

    def stop(self) -> None:
        for task in [*self._tasks]:
            task.cancel()

    @property
    def cookies(self) -> tuple[str, ...]:
        return self._cookies

    # What the browser tells

    def _note_paused(self, paused: Paused) -> None:
        if not self.has_enough.is_set():  # else it may wait for ever
            self._spawn(self._decide(paused))

    def _note_data(self, data: dict[str, Any]) -> None:
        size_bytes = data["dataLength"]
        self._size_bytes += size_bytes
        if data["requestId"] == self._main:
            self._main_bytes += size_bytes
            if 0 < self._max_bytes < self._main_bytes:
                self._finish(too_large(self._url, self._main_bytes, self._max_bytes))
        if self._size_bytes > MAX_BYTES:
            self._stop_scripts()

    def _note_head(self, head: dict[str, Any]) -> None:
        if head["requestId"] == self._main:
            fields = {name.lower(): value for name, value in head["headers"].items()}
            self._cookies = tuple(filter(None, fields.get("set-cookie", "").split("\n")))
            self._has_cookies.set()

    def _note_whole(self, told: dict[str, Any]) -> None:
        if told["requestId"] == self._main:
            self.is_whole.set()

    def _note_loss(self, told: dict[str, Any]) -> None:
        is_page = told["requestId"] == self._main and self.head is not None
        if is_page and not self.is_ending and not told.get("canceled"):
            problem = f"{self._url} was cut short: {told.get('errorText')}"
            self._finish(ResponseDataLossError(problem))

    # What it is to do

    async def _decide(self, paused: Paused) -> None:
        try:
            if paused["resourceType"] != "Document":
                await self._load_part(paused)
            elif paused["frameId"] != self._frame:
                await self._refuse(paused)
            elif "responseStatusCode" in paused or "responseErrorReason" in paused:
                await self._answer(paused)
            else:
                await self._open(paused)
        except (DownloadCancelledError, DownloadFailedError) as error:
            self._finish(error)

    async def _load_part(self, paused: Paused) -> None:
        self._wishes += 1
        if self._wishes > MAX_WISHES:
            self._stop_scripts()
        is_web = paused["request"]["url"].startswith(("http://", "https://"))
        if paused["resourceType"] == "Image":
            headers = [{"name": "Content-Type", "value": "image/gif"}]
            dot = {"responseCode": 200, "responseHeaders": headers, "body": _DOT}
            await self._tell("fulfillRequest", paused, **dot)
        elif paused["resourceType"] in _WANTED and is_web and self._requests < MAX_REQUESTS:
            self._requests += 1
            await self._tell("continueRequest", paused)
        else:
            await self._refuse(paused)

    async def _open(self, paused: Paused) -> None:
        """The page is asked for, or a script wants to open another."""
        request = paused["request"]
        if not self._visits:
            self._begin(paused)
            await self._before_sending()
            headers = request["headers"] | self._headers
            fields = [{"name": name, "value": value} for name, value in headers.items()]
            await self._tell("continueRequest", paused, headers=fields)
        elif request["method"] != "GET" or not request["url"].startswith(("http://", "https://")):
            await self._refuse(paused)
        elif request["url"] != self._url:
            self.is_ending = True
            await self._refuse(paused)
            self._finish(script_redirect(request["url"], self._cookies))
        elif self._visits <= MAX_RELOADS:
            self._begin(paused)
            await self._tell("continueRequest", paused)
        else:
            await self._refuse(paused)

    def _begin(self, paused: Paused) -> None:
        self._visits += 1
        self._url = paused["request"]["url"]
        self._main = paused.get("networkId", "")
        self._main_bytes = 0
        self._has_cookies.clear()
        self.is_whole.clear()

    async def _answer(self, paused: Paused) -> None:
        """The site has answered the page itself."""
        if "responseErrorReason" in paused:
            await self._tell("continueRequest", paused)  # opening it fails
            return
        head = _head_of(paused)
        is_large = 0 < self._max_bytes < head.length
        self.is_ending = head.has_no_body or is_large or not head.is_page
        if not self.is_ending:
            self.head = head
            await self._tell("continueRequest", paused)
            return
        if is_large:
            raise too_large(self._url, head.length, self._max_bytes)
        body = b"" if head.has_no_body else await self._read_body(paused)
        await self._refuse(paused)
        with suppress(TimeoutError):
            async with asyncio.timeout(COOKIES_S):
                await self._has_cookies.wait()
        self._finish(BrowserAnswer(head, self._cookies, body))

    async def _read_body(self, paused: Paused) -> bytes:
        told = await self._tell("takeResponseBodyAsStream", paused)
        body = bytearray()
        while True:
            piece = {"handle": told["stream"], "size": PIECE_BYTES}
            told |= await self._session.send("IO.read", piece)
            data = told["data"].encode("utf-8", "surrogatepass")
            body += base64.b64decode(data) if told.get("base64Encoded") else data
            if 0 < self._max_bytes < len(body):
                raise too_large(self._url, len(body), self._max_bytes)
            if told["eof"]:
                return bytes(body)

    def _stop_scripts(self) -> None:
        if not self.has_enough.is_set():
            self.has_enough.set()
            self._spawn(self._session.send(_STOP_SCRIPTS, {"value": True}))

    async def _refuse(self, paused: Paused) -> None:
        await self._tell("failRequest", paused, errorReason="Aborted")

    async def _tell(self, what: str, paused: Paused, **how: Any) -> dict[str, Any]:
        told = {"requestId": paused["requestId"], **how}
        return dict(await self._session.send(f"Fetch.{what}", told) or {})

    def _spawn(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the page is closed, or has crashed, which others are told

    def _finish(self, result: BrowserAnswer | Exception) -> None:
        self.is_ending = True
        self._end(result)


def _head_of(paused: Paused) -> AnswerHead:
    headers: dict[str, str] = {}
    for field in paused.get("responseHeaders", ()):
        name = field["name"].lower()
        before = f"{headers[name]}\n" if name in headers else ""
        headers[name] = before + field["value"]
    headers.pop("set-cookie", None)
    return AnswerHead(paused["responseStatusCode"], headers)

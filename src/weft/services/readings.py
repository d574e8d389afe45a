"""Reads pages that the user has: files, standard input, URLs."""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from weft.boards.reading.reading import Article, Reading, ReadOptions, read
from weft.errors import PageError
from weft.markup import DEFAULT_LIMITS

#: What stands for standard input.
STDIN = "-"
#: So many pages are read faster here than by processes that must start first.
FEW_PAGES = 8
#: Pages that wait to be read: no more of them are in memory.
WAITING = 64


class PageSource(msgspec.Struct, frozen=True):
    """Where a page comes from."""

    #: A path, a URL, or - for standard input.
    name: str
    #: The URL of a page that is no URL itself; empty if nobody knows it.
    url: str = ""

    @property
    def is_url(self) -> bool:
        return self.name.startswith(("http://", "https://"))


class ReadPage(msgspec.Struct, frozen=True):
    """What became of a page."""

    source: str
    reading: Reading | None = None
    #: Why there is no reading; empty if there is one.
    problem: str = ""


class ReceivedPage(msgspec.Struct, frozen=True):
    """A page as it was received, or a file to be opened."""

    source: str
    url: str = ""
    body: bytes | None = None
    charset: str | None = None
    problem: str = ""


async def read_pages(
    sources: Sequence[PageSource], options: ReadOptions, today: date
) -> AsyncIterator[ReadPage]:
    """Read each page, and give what became of it, in the order of the sources.

    Many pages are read by as many processes as there are cores.
    """
    fetched = _Fetched([source.name for source in sources if source.is_url])
    pending: deque[asyncio.Task[ReadPage]] = deque()
    with _executor(len(sources)) as executor:
        try:
            for source in sources:
                pending.append(
                    asyncio.ensure_future(_read_one(source, fetched, executor, options, today))
                )
                if len(pending) >= WAITING:
                    yield await pending.popleft()
            while pending:
                yield await pending.popleft()
        finally:
            await _cancel([*pending, *fetched.tasks])


async def _cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _read_one(
    source: PageSource,
    fetched: "_Fetched",
    executor: Executor | None,
    options: ReadOptions,
    today: date,
) -> ReadPage:
    if source.is_url:
        page = await fetched.page(source.name)
    elif source.name == STDIN:
        body = _read_bytes(sys.stdin.buffer, options)
        page = ReceivedPage(source.name, source.url, body)
    else:
        page = ReceivedPage(source.name, source.url)
    if executor is None:
        return read_raw(page, options, today)
    running = asyncio.get_running_loop().run_in_executor(executor, read_raw, page, options, today)
    try:
        return await running
    except BrokenProcessPool:
        return ReadPage(source.name, problem="the process that read it was killed")


def read_raw(page: ReceivedPage, options: ReadOptions, today: date) -> ReadPage:
    """Runs in any process."""
    if page.problem:
        return ReadPage(page.source, problem=page.problem)
    try:
        body = page.body if page.body is not None else _read_file(page.source, options)
        return ReadPage(
            page.source, read(body, page.url, page.charset, today=today, options=options)
        )
    except PageError as problem:
        return ReadPage(page.source, problem=str(problem))
    except OSError as problem:
        return ReadPage(page.source, problem=_why_not_opened(problem))


def _read_file(path: str, options: ReadOptions) -> bytes:
    with Path(path).open("rb") as file:
        return _read_bytes(file, options)


def _read_bytes(file: BinaryIO, options: ReadOptions) -> bytes:
    """No more of it than is needed to see that it is too large."""
    most = (options.limits or DEFAULT_LIMITS).max_bytes
    return file.read(most + 1 if most else -1)


def _why_not_opened(problem: OSError) -> str:
    if isinstance(problem, IsADirectoryError):
        return "it is a directory; name the pages in it: DIRECTORY/*.html"
    if isinstance(problem, FileNotFoundError):
        return "there is no such file; a URL begins with http:// or https://"
    return f"it cannot be opened: {problem.strerror}"


class _Fetched:
    """The pages that are being fetched. The fetching begins when somebody waits for the first."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls
        self._pages: dict[str, asyncio.Future[ReceivedPage]] = {}
        self.tasks: list[asyncio.Task[None]] = []

    async def page(self, url: str) -> ReceivedPage:
        if not self._pages:
            loop = asyncio.get_running_loop()
            self._pages = {url: loop.create_future() for url in self._urls}
            self.tasks = [asyncio.ensure_future(self._fetch())]
        return await self._pages[url]

    async def _fetch(self) -> None:
        # Imported here because it loads Scrapy.
        from weft.engine.fetching import FetchedPage, fetch_pages

        def arrived(page: FetchedPage) -> None:
            raw = ReceivedPage(page.asked, page.url, page.body, page.charset, page.problem)
            if not self._pages[page.asked].done():
                self._pages[page.asked].set_result(raw)

        try:
            await fetch_pages(list(self._pages), arrived)
            for url in self._pages:
                arrived(FetchedPage(url, problem="it cannot be fetched"))
        except Exception as problem:
            for page in self._pages.values():
                if not page.done():
                    page.set_exception(problem)


@contextmanager
def _executor(pages: int) -> Iterator[Executor | None]:
    """Other processes, where it is worth the time that they take to start."""
    cores = os.cpu_count() or 1
    if pages < FEW_PAGES or cores == 1:
        yield None
        return
    executor = ProcessPoolExecutor(cores, get_context("spawn"), _ignore_ctrl_c)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _ignore_ctrl_c() -> None:
    """The process that started this one hears it, and ends both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def as_object(page: ReadPage) -> dict[str, Any]:
    """The page as one flat object, with the same fields for every page that was read."""
    if page.reading is None:
        return {"source": page.source, "problem": page.problem}
    reading = page.reading
    none = Article(title=reading.title, canonical_url=reading.canonical_url)
    article = msgspec.to_builtins(reading.article or none)
    judgement = reading.judgement
    return {
        "source": page.source,
        "url": reading.url,
        "kind": reading.kind,
        "article_score": round(judgement.article.score, 3),
        "topics_score": round(judgement.topics.score, 3),
        "reasons": {
            "article": list(judgement.article.reasons),
            "topics": list(judgement.topics.reasons),
        },
        **article,
        "links": [{"url": link.url, "text": link.text} for link in reading.links],
        "next": list(reading.next),
        "feeds": list(reading.feeds),
        "encoding": reading.encoding,
        "method": reading.method,
    }

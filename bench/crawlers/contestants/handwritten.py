"""Written by hand for this one task: aiohttp, lexbor, a set and a queue. The practical limit.

It forgets everything when it ends, loads every host at any rate, and gives up at the first error.
It joins links with the standard library, as most would; with `native` by can_ada, which few know.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urldefrag, urljoin

import aiohttp
import can_ada
from selectolax.lexbor import LexborHTMLParser

#: Makes absolute URLs without fragments from the hrefs of a page.
Join = Callable[[str], Callable[[str], str]]


def by_standard_library(url: str) -> Callable[[str], str]:
    return lambda href: urldefrag(urljoin(url, href)).url


def by_can_ada(url: str) -> Callable[[str], str]:
    base = can_ada.parse(url)

    def absolute(href: str) -> str:
        link = base + href
        link.hash = ""
        return str(link.href)

    return absolute


class Crawl:
    def __init__(self, urls: list[str], output: TextIO, join: Join) -> None:
        self._join = join
        self._seen = set(urls)
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._output = output
        for url in urls:
            self._queue.put_nowait(url)

    async def run(self, session: aiohttp.ClientSession, concurrency: int) -> None:
        workers = [asyncio.create_task(self._work(session)) for _ in range(concurrency)]
        finished = asyncio.create_task(self._queue.join())
        await asyncio.wait([finished, *workers], return_when=asyncio.FIRST_COMPLETED)
        for task in (finished, *workers):
            task.cancel()
        failed = [task for task in workers if task.done() and not task.cancelled()]
        for task in failed:
            task.result()

    async def _work(self, session: aiohttp.ClientSession) -> None:
        while True:
            url = await self._queue.get()
            async with session.get(url) as response:
                response.raise_for_status()
                self._take(url, await response.text())
            self._queue.task_done()

    def _take(self, url: str, text: str) -> None:
        tree = LexborHTMLParser(text)
        title = tree.css_first("title")
        self._output.write(json.dumps({"url": url, "title": title.text() if title else ""}) + "\n")
        absolute = self._join(url)
        for node in tree.css("a[href]"):
            self._add(absolute(node.attributes["href"] or ""))

    def _add(self, url: str) -> None:
        if url not in self._seen and url.startswith("http://127."):
            self._seen.add(url)
            self._queue.put_nowait(url)


async def main(plan: dict[str, Any], output: TextIO, join: Join) -> None:
    connector = aiohttp.TCPConnector(limit=plan["concurrency"], limit_per_host=plan["per_host"])
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(connector=connector, cookie_jar=jar) as session:
        await Crawl(plan["urls"], output, join).run(session, plan["concurrency"])


if __name__ == "__main__":
    PLAN = json.loads(Path(sys.argv[1]).read_text())
    with Path(PLAN["outputs"][0]).open("w") as OUTPUT:
        JOIN = by_can_ada if "native" in sys.argv else by_standard_library
        asyncio.run(main(PLAN, OUTPUT, JOIN))

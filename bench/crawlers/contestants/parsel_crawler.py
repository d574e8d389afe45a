"""Crawlee for Python: its ParselCrawler, with its queue and its dataset in memory."""

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

from crawlee import ConcurrencySettings, Glob
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def take(context: ParselCrawlingContext) -> None:
    title = context.selector.css("title::text").get()
    await context.push_data({"url": context.request.url, "title": title})
    await context.enqueue_links(strategy="all", include=[Glob("http://127.*/**")])


async def main(plan: dict[str, Any]) -> list[dict[str, Any]]:
    # Without a minimum it reduces its concurrency when the machine is busy.
    many = plan["concurrency"]
    crawler = ParselCrawler(
        request_handler=take,
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=many, desired_concurrency=many, max_concurrency=many
        ),
        configure_logging=False,
        use_session_pool=False,
    )
    await crawler.run(plan["urls"])
    dataset = await crawler.get_dataset()
    return list((await dataset.get_data(limit=None)).items)


if __name__ == "__main__":
    logging.getLogger().setLevel(logging.WARNING)
    PLAN = json.loads(Path(sys.argv[1]).read_text())
    FOUND = asyncio.run(main(PLAN))
    with Path(PLAN["outputs"][0]).open("w") as output:
        output.writelines(json.dumps(item) + "\n" for item in FOUND)

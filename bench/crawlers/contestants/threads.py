"""feapder, in memory (`AirSpider`) or on Redis (`Spider`), with its threads: `threads.py PLAN`.

Sessions are turned on, which keeps connections alive. The plan has a Redis for the Redis variant.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

PLAN = json.loads(Path(sys.argv[1]).read_text()) if __name__ == "__main__" else {}
# feapder reads these when it is imported.
os.environ["LOG_LEVEL"] = "WARNING"
if PLAN.get("redis"):
    os.environ["REDISDB_IP_PORTS"] = PLAN["redis"].split("/")[2]

import feapder  # noqa: E402
from feapder.pipelines import BasePipeline  # noqa: E402

#: A set in memory; feapder's "memory filter" is a Bloom filter, and may lose pages.
LITE_FILTER = 4


class PageItem(feapder.Item):
    def __init__(self, url: str, title: str) -> None:
        super().__init__()
        self.url = url
        self.title = title


class LinesPipeline(BasePipeline):
    def save_items(self, table: str, items: list[dict[str, Any]]) -> bool:
        with Path(PLAN["outputs"][0]).open("a") as output:
            output.writelines(json.dumps(item) + "\n" for item in items)
        return True


class Pages:
    """What both kinds of spider share."""

    __custom_setting__: ClassVar[dict[str, Any]] = {
        "SPIDER_THREAD_COUNT": PLAN.get("concurrency"),
        "USE_SESSION": True,
        "REQUEST_FILTER_ENABLE": True,
        "ITEM_PIPELINES": ["__main__.LinesPipeline"],
    }

    def start_requests(self) -> Iterator[feapder.Request]:
        for url in PLAN["urls"]:
            yield feapder.Request(url)

    def parse(self, request: Any, response: Any) -> Iterator[Any]:
        yield PageItem(response.url, response.css("title::text").extract_first())
        # feapder makes them absolute.
        for url in response.css("a::attr(href)").extract():
            if url.startswith("http://127."):
                yield feapder.Request(url.partition("#")[0])


class InMemory(Pages, feapder.AirSpider):
    __custom_setting__: ClassVar[dict[str, Any]] = Pages.__custom_setting__ | {
        "REQUEST_FILTER_SETTING": {"filter_type": LITE_FILTER}
    }


class OnRedis(Pages, feapder.Spider):
    pass


if __name__ == "__main__":
    (OnRedis(redis_key="pages") if PLAN["redis"] else InMemory()).start()

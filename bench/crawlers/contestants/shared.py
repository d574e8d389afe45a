"""The ordinary spider for scrapy-redis: the start URLs and the queue are in Redis.

`python shared.py PLAN NUMBER`: the first worker puts the start URLs into Redis. None ends by
itself, so each is set to end after five idle seconds. The first one that ends must not delete the
queue, hence SCHEDULER_PERSIST.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider

IDLE_S = 5


class PagesSpider(RedisSpider):
    name = "pages"
    links = LinkExtractor(allow=r"^http://127\.")

    def make_request_from_data(self, data: bytes) -> scrapy.Request:
        # The default would not record the URL, and fetch the page again when it is linked.
        return scrapy.Request(json.loads(data)["url"])

    def parse(self, response: TextResponse) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


def settings(plan: dict[str, Any], output: str) -> dict[str, Any]:
    return {
        **plan["scrapy"],
        "REDIS_URL": plan["redis"],
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "MAX_IDLE_TIME_BEFORE_CLOSE": IDLE_S,
        "FEEDS": {output: {"format": "jsonlines"}},
    }


def put_start_urls(plan: dict[str, Any]) -> None:
    with redis.Redis.from_url(plan["redis"]) as client:
        client.rpush("pages:start_urls", *(json.dumps({"url": url}) for url in plan["urls"]))


def main() -> None:
    plan, number = json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])
    if number == 1:
        put_start_urls(plan)
    process = CrawlerProcess(settings(plan, plan["outputs"][number - 1]))
    process.crawl(PagesSpider)
    process.start()


if __name__ == "__main__":
    main()

"""Items on their way to the sinks: through Scrapy's item processor, which calls the project's
pipelines, then into the buffer.

An item's key is made of the fields that WEFT_ITEM_KEY names, or else of its job, its page's
fingerprint and its position on the page. Positions are counted where items leave the spider
(`PositionMiddleware`), because pipelines may finish in any order and return other objects than they
were given. Only items that an errback yields after a failed download do not pass there, but Scrapy
says where such an item came from when it has been scraped.
"""

from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from itemadapter import ItemAdapter
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from weft.engine.crawl import Crawl
from weft.engine.extensions.media import share_downloads
from weft.engine.requests.follow import FollowAll
from weft.engine.requests.positions import Position
from weft.engine.scrapy.declared import declared_fields
from weft.engine.scrapy.lean.scraper import has_pipelines
from weft.sinks import KeyedItem
from weft.sinks.encoding import encode_fields


class ItemFollower:
    """Follows items through the item processor, Scrapy's or the project's own, to the sinks."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self._crawl = crawl
        processor = crawler.engine.scraper.itemproc
        self._has_pipelines = has_pipelines(processor)
        self._follow(processor)
        for pipeline in getattr(processor, "middlewares", ()):
            if isinstance(pipeline, MediaPipeline):
                share_downloads(pipeline, lambda: crawl.media)
        crawler.signals.connect(self._store, signals.item_scraped)

    def _follow(self, processor: Any) -> None:
        """Scrapy calls `process_item` only of a class that was made for older versions."""
        if of_now := getattr(processor, "process_item_async", None):
            processor.process_item_async = lambda item: self._process(item, lambda: of_now(item))
        if of_old := getattr(processor, "process_item", None):

            def process_item(item: Any, spider: Spider) -> Deferred[Any]:
                output = self._process(item, lambda: maybe_deferred_to_future(of_old(item, spider)))
                return deferred_from_coro(output)

            processor.process_item = process_item

    async def _process(self, item: Any, process: Callable[[], Awaitable[Any]]) -> Any:
        """What comes out of the processor has the position of what went in."""
        if isinstance(item, FollowAll):
            raise TypeError("FollowAll is for the links of a page; an errback yields requests")
        if not self._has_pipelines:
            return item
        positions = self._crawl.positions
        position = positions.pop(item)
        output = await process()
        if position is not None:
            positions.put(output, position)
        return output

    def _store(self, item: Any, response: Response | Failure | None) -> None:
        crawl = self._crawl
        position = crawl.positions.pop(item) or crawl.requests.intake.errback_position(response)
        if not ItemAdapter.is_item(item):
            return
        fields = dict(item) if _is_plain(item) else ItemAdapter(item).asdict()
        page, fetched_at_ms = crawl.observer.note_item(response)
        config = crawl.config
        crawl.buffer.put_item(
            KeyedItem(
                item_key(fields, position, config.item_key, config.job),
                fields,
                page,
                fetched_at_ms,
                declared_fields(type(item)),
            )
        )


def _is_plain(item: Any) -> bool:
    """Whether it holds no nested data that would have to be converted."""
    return type(item) is dict and all(type(value) in _PLAIN for value in item.values())


_PLAIN = frozenset({str, int, float, bool, type(None), bytes})


def item_key(
    fields: dict[str, Any], position: Position, names: Sequence[str], job: str = ""
) -> bytes:
    """What makes two items the same item. Jobs may share a sink: their items of one page are not
    the same, unless the user names the fields that decide."""
    chosen: Any = {"job": job, "page": position.page, "number": position.number}
    if names and all(fields.get(name) is not None for name in names):
        chosen = [fields[name] for name in names]
    try:
        raw = msgspec.msgpack.encode(chosen, enc_hook=str, order="deterministic")
    except Exception:  # anything that a spider yields has a key: huge numbers, broken text
        raw = encode_fields({"key": chosen})
    return blake2b(raw, digest_size=16, person=b"weft item").digest()

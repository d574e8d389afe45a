"""Items on their way to the sinks: through the project's pipelines, then into the buffer.

An item's key is made of the fields that WEFT_ITEM_KEY names, or else of its job, its page's
fingerprint and its position on the page. Positions are counted where items leave the spider
(`PositionMiddleware`), because pipelines may finish in any order and return other objects than they
were given. Only items that an errback yields after a failed download do not pass there, but Scrapy
says where such an item came from when it has been scraped.
"""

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import msgspec
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.pipelines import ItemPipelineManager
from scrapy.pipelines.media import MediaPipeline
from twisted.python.failure import Failure

from weft.engine.crawl import Crawl
from weft.engine.extensions.filesstore import make_files_store_safe
from weft.engine.extensions.media import share_downloads
from weft.engine.requests.follow import FollowAll
from weft.engine.requests.positions import Position
from weft.engine.scrapy.declared import declared_fields
from weft.engine.scrapy.scheduler import crawl_of
from weft.sinks import KeyedItem
from weft.sinks.encoding import encode_fields


class ItemProcessor(ItemPipelineManager):
    """The project's pipelines, and after them the sinks."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        make_files_store_safe()  # before a pipeline makes its store
        return super().from_crawler(crawler)

    def __init__(self, *pipelines: Any, crawler: Crawler) -> None:
        super().__init__(*pipelines, crawler=crawler)
        self._crawler = crawler
        crawler.signals.connect(self._store, signals.item_scraped)
        for pipeline in pipelines:
            if isinstance(pipeline, MediaPipeline):
                share_downloads(pipeline, lambda: self._crawl.media)

    @cached_property
    def _crawl(self) -> Crawl:
        return crawl_of(self._crawler)

    async def process_item_async(self, item: Any) -> Any:
        """What the pipelines return has the position of what they were given."""
        if isinstance(item, FollowAll):
            raise TypeError("FollowAll is for the links of a page; an errback yields requests")
        if not self.methods["process_item"]:
            return item
        positions = self._crawl.positions
        position = positions.pop(item)
        output = await super().process_item_async(item)
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

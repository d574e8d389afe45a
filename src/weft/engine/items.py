"""Items on their way to the sinks: through the project's pipelines, then into the buffer.

An item's key is made of the fields that WEFT_ITEM_KEY names, or else of its job, its page's
fingerprint and its place on the page. Places are counted where items leave the spider
(`PlaceMiddleware`), because pipelines may finish in any order and hand out other objects than they
were given. Only what an errback yields after a failed download does not come by there; but Scrapy
tells where such an item came from when it has been scraped.
"""

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import msgspec
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.pipelines import ItemPipelineManager
from scrapy.pipelines.media import MediaPipeline
from twisted.python.failure import Failure

from weft.engine.declared import declared_fields
from weft.engine.follow import FollowAll
from weft.engine.media import share_downloads
from weft.engine.places import Place
from weft.engine.scheduler import Scheduler, scheduler_of
from weft.sinks import KeyedItem
from weft.sinks.encoding import encode_fields


class ItemProcessor(ItemPipelineManager):
    """The project's pipelines, and at their end the sinks."""

    def __init__(self, *pipelines: Any, crawler: Crawler) -> None:
        super().__init__(*pipelines, crawler=crawler)
        self._crawler = crawler
        crawler.signals.connect(self._store, signals.item_scraped)
        for pipeline in pipelines:
            if isinstance(pipeline, MediaPipeline):
                share_downloads(pipeline, lambda: self._scheduler.media)

    @cached_property
    def _scheduler(self) -> Scheduler:
        return scheduler_of(self._crawler)

    async def process_item_async(self, item: Any) -> Any:
        """What the pipelines hand out has the place of what they were given."""
        if isinstance(item, FollowAll):
            raise TypeError("FollowAll is for the links of a page; an errback yields requests")
        if not self.methods["process_item"]:
            return item
        places = self._scheduler.places
        place = places.pop(item)
        output = await super().process_item_async(item)
        if place is not None:
            places.put(output, place)
        return output

    def _store(self, item: Any, response: Response | Failure | None) -> None:
        scheduler = self._scheduler
        place = scheduler.places.pop(item) or scheduler.intake.errback_place(response)
        if not ItemAdapter.is_item(item):
            return
        fields = dict(item) if _is_plain(item) else ItemAdapter(item).asdict()
        page, fetched_at_ms = scheduler.fates.note_item(response)
        config = scheduler.config
        scheduler.put_item(
            KeyedItem(
                item_key(fields, place, config.item_key, config.job),
                fields,
                page,
                fetched_at_ms,
                declared_fields(type(item)),
            )
        )


def _is_plain(item: Any) -> bool:
    """Whether it holds nothing that would have to be unfolded."""
    return type(item) is dict and all(type(value) in _PLAIN for value in item.values())


_PLAIN = frozenset({str, int, float, bool, type(None), bytes})


def item_key(fields: dict[str, Any], place: Place, names: Sequence[str], job: str = "") -> bytes:
    """What makes two items the same item. Jobs may share a sink: what they find on a page is not
    the same, unless the user says by which fields it is."""
    chosen: Any = {"job": job, "page": place.page, "number": place.number}
    if names and all(fields.get(name) is not None for name in names):
        chosen = [fields[name] for name in names]
    try:
        raw = msgspec.msgpack.encode(chosen, enc_hook=str, order="deterministic")
    except Exception:  # whatever a spider yields has a key: huge numbers, broken text
        raw = encode_fields({"key": chosen})
    return blake2b(raw, digest_size=16, person=b"weft item").digest()

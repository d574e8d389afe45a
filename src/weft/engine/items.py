"""Items on their way to the sinks: through the project's pipelines, then into the buffer.

An item's key is made of the fields that WEFT_ITEM_KEY names, or else of its page's fingerprint and
its place on the page. Places are counted where items leave the spider (`PlaceMiddleware`), because
pipelines may finish in any order and hand out other objects than they were given.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from itemadapter import ItemAdapter
from scrapy.pipelines import ItemPipelineManager

from weft.engine.places import Place
from weft.engine.scheduler import scheduler_of
from weft.sinks import KeyedItem


class ItemProcessor(ItemPipelineManager):
    """The project's pipelines, and at their end the sinks."""

    async def process_item_async(self, item: Any) -> Any:
        assert self.crawler is not None
        scheduler = scheduler_of(self.crawler)
        place = scheduler.places.pop(item) or scheduler.next_stray_place()
        output = await super().process_item_async(item)
        if output is not None and ItemAdapter.is_item(output):
            fields = ItemAdapter(output).asdict()
            scheduler.put_item(KeyedItem(item_key(fields, place, scheduler.item_key), fields))
        return output


def item_key(fields: dict[str, Any], place: Place, names: Sequence[str]) -> bytes:
    """What makes two items the same item."""
    chosen: Any = place
    if names and all(fields.get(name) is not None for name in names):
        chosen = [fields[name] for name in names]
    raw = msgspec.msgpack.encode(chosen, enc_hook=str)
    return blake2b(raw, digest_size=16, person=b"weft item").digest()

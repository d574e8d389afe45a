import asyncio
from typing import Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem


class DropOdd:
    def process_item(self, item: Any) -> Any:
        if ItemAdapter(item).get("number", 0) % 2:
            raise DropItem("odd")
        return item


class LateFirst:
    """Asynchronous, and finishes items in another order than they came in."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.02 if ItemAdapter(item)["number"] % 4 else 0.001)
        return item


class Copied:
    """Hands out another object, of another type, than it was given."""

    def process_item(self, item: Any) -> dict[str, Any]:
        return {**ItemAdapter(item).asdict(), "is_copied": True}

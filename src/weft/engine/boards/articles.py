"""Articles of boards as items."""

import logging
from typing import Any

import msgspec

from weft.boards.duplicates import DuplicateIndex, sign
from weft.boards.reading.reading import Reading
from weft.boards.variants import address_of, are_variants
from weft.engine.boards.live import LiveBoard
from weft.engine.pages import ArticleItem
from weft.errors import StoreError

logger = logging.getLogger(__name__)


class Articles:
    def __init__(self, duplicates: DuplicateIndex) -> None:
        self._duplicates = duplicates

    async def items(self, live: LiveBoard, reading: Reading) -> list[dict[str, Any]]:
        """What goes to the sinks: nothing, if the same page came from another address before."""
        url = address_of(reading.url, reading.canonical_url)
        fields = vars(ArticleItem.of(msgspec.structs.replace(reading, url=url)))
        extra = fields.pop("extra")
        duplicate_of = await self._find_original(url, fields["title"], fields["body"])
        if duplicate_of and are_variants(url, duplicate_of):
            live.notes.count("variants")
            return []
        if duplicate_of:
            live.notes.count("duplicates")
        return [{"board": live.board.name, **fields, **extra, "duplicate_of": duplicate_of}]

    async def _find_original(self, url: str, title: str, body: str) -> str:
        """Empty if it is the first of its kind."""
        signature = sign(body, title)
        if signature is None:
            return ""
        try:
            [found] = await self._duplicates.meet([(url, signature)])
        except StoreError as error:  # the article counts more than what it repeats
            logger.warning("%s may be a duplicate: %s", url, error)
            return ""
        return found or ""

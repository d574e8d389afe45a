"""Which sinks the articles of boards go to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.boards.store import open_board_store
from weft.engine.settings import JobConfig
from weft.sinks import KeyedItem

if TYPE_CHECKING:
    from weft.engine.boards.live import LiveBoards


class BoardRoute:
    """A `ItemRoute`. A board that names no sinks has those of the crawl."""

    def __init__(self, config: JobConfig) -> None:
        self._config = config
        #: Set when the crawl runs.
        self.live: LiveBoards | None = None

    def sinks_of(self, item: KeyedItem) -> Sequence[str]:
        live = self.live.get(_board_of(item)) if self.live else None
        return live.board.sinks if live else ()

    async def all_sinks(self) -> Sequence[str]:
        async with open_board_store(self._config.boards, self._config.job) as store:
            boards = [each.board for each in await store.boards()]
        return [*dict.fromkeys(sink for board in boards for sink in board.sinks)]

    def note_refused(self, item: KeyedItem, reason: str) -> None:
        if self.live and (live := self.live.get(_board_of(item))):
            live.notes.add_problem("", f"articles cannot be stored, and are kept aside: {reason}")

    def note_waiting(self, items: Sequence[KeyedItem], reason: str) -> None:
        for name in {_board_of(item) for item in items}:
            if self.live and (live := self.live.get(name)):
                live.notes.add_problem("", f"the crawl waits for a sink: {reason}")


def _board_of(item: KeyedItem) -> str:
    return str(item.fields.get("board", ""))

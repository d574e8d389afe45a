"""Items that a sink refused: a file of JSON lines in the job's directory, with the reasons."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from weft.sinks import make_sink
from weft.sinks.base import KeyedItem, Refusal, Sink, SinkConfig

DEAD_LETTERS = "dead-letters.jsonl"


class DeadLetters:
    """Opened when the first item is refused; most crawls never refuse one."""

    def __init__(self, config: SinkConfig) -> None:
        self._config = config
        self._sink: Sink | None = None

    @property
    def path(self) -> Path:
        return self._config.job_dir / DEAD_LETTERS

    async def put(self, place: str, refusals: Sequence[Refusal]) -> None:
        """Write what the sink at `place` refused, each item once; they are on disk on return."""
        if not refusals:
            return
        if self._sink is None:
            sink = make_sink(str(self.path), self._config)
            await sink.open()
            self._sink = sink
        await self._sink.store(list(_letters(place, refusals)))

    async def clear(self) -> None:
        """Forget all refused items, because the crawl starts over."""
        if self.path.exists():
            sink = make_sink(str(self.path), self._config)
            await sink.open()
            try:
                await sink.clear()
            finally:
                await sink.close()

    async def close(self) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            await sink.close()


def _letters(place: str, refusals: Sequence[Refusal]) -> Iterator[KeyedItem]:
    for item, reason in refusals:
        key = blake2b(item.key + place.encode(), digest_size=16).digest()
        fields = {"sink": place, "reason": reason, "key": item.key.hex(), "page": item.page}
        yield KeyedItem(key, {**fields, "item": item.fields})

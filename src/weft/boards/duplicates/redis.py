"""The index of near-duplicates in Redis, for a job on a shared store. Each call is one script."""

from collections.abc import Sequence
from typing import Self

import msgspec

from weft.boards.duplicates.base import MAX_ARTICLES, MAX_PER_MARK
from weft.boards.duplicates.rule import DEFAULT_RULE
from weft.boards.duplicates.signature import Signature
from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script


class MeetRule(msgspec.Struct, frozen=True, array_like=True):
    max_articles: int = MAX_ARTICLES
    max_per_mark: int = MAX_PER_MARK
    containment: int = DEFAULT_RULE.containment
    resemblance: int = DEFAULT_RULE.resemblance
    closeness: int = DEFAULT_RULE.closeness
    facts: int = DEFAULT_RULE.facts
    min_facts: int = DEFAULT_RULE.min_facts


class MeetArticles(msgspec.Struct, frozen=True, array_like=True):
    """Blobs: their packed signatures."""

    urls: list[str]


class ForgetArticles(msgspec.Struct, frozen=True, array_like=True):
    pass


_PACKAGE = "weft.boards.duplicates.lua"

MEET = Script(_PACKAGE, ("articles", "rule", "meet"), MeetRule, MeetArticles, list[str])
FORGET = Script(_PACKAGE, ("articles", "forget"), NoConfig, ForgetArticles, bool)


class RedisDuplicates:
    """A `DuplicateIndex`."""

    def __init__(self, url: str, job: str, *, max_articles: int = MAX_ARTICLES) -> None:
        self._client = Client(url)
        self._client.know({script.sha: script.source for script in (MEET, FORGET)})
        self._prefix = keys.job_prefix(job)
        self._rule = msgspec.msgpack.encode(MeetRule(max_articles))

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._client.__aexit__(*exc_info)

    async def meet(self, articles: Sequence[tuple[str, Signature]]) -> list[str | None]:
        if not articles:
            return []
        call = MeetArticles([url for url, _ in articles])
        packed = [signature.pack() for _, signature in articles]
        [raw] = await self._client.run([MEET.call(self._prefix, self._rule, call, packed)])
        return [original or None for original in MEET.read(raw)]

    async def forget(self) -> None:
        await self._client.run([FORGET.call(self._prefix, NO_CONFIG, ForgetArticles())])

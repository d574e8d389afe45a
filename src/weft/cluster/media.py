"""Decides which worker downloads a file that items of several workers refer to.

The first worker to ask gets a claim, which it renews while it downloads. The result is recorded,
and workers that ask later get it. A claim that is not renewed, because its worker was killed,
expires; a failed download ends it at once. Then the next worker to ask gets it.
"""

import asyncio
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from weft.redis import keys
from weft.redis.client import Client, Command
from weft.redis.script import NO_CONFIG, NoConfig, Script

#: Calls running at a time: each has its own connection.
MAX_CALLS = 16


class MediaState(StrEnum):
    #: There is a result.
    DONE = "done"
    #: We have the claim.
    OURS = "ours"
    #: Another worker has it.
    WAIT = "wait"


class TakeMedia(msgspec.Struct, frozen=True, array_like=True):
    file_key: str
    owner: str
    claim_ms: int


class EndMedia(msgspec.Struct, frozen=True, array_like=True):
    """Blob: the result."""

    file_key: str
    owner: str
    keep_ms: int


class Taken(NamedTuple):
    state: MediaState
    result: bytes = b""

    @property
    def is_elsewhere(self) -> bool:
        """Whether another worker downloads it."""
        return self.state is MediaState.WAIT


TAKE = Script("weft.cluster.lua", ("take_media",), NoConfig, TakeMedia, MediaState)
END = Script("weft.cluster.lua", ("end_media",), NoConfig, EndMedia, bool)


class MediaClaims:
    """The claims of one worker on the files of a job; `owner` contains no spaces.

    `claim_ms`: how long after its last renewal a claim expires.
    """

    def __init__(self, client: Client, job: str, owner: str, claim_ms: int) -> None:
        self._client = client
        self._client.know({script.sha: script.source for script in (TAKE, END)})
        self._prefix = keys.job_prefix(job)
        self._owner = owner
        self._claim_ms = claim_ms
        self._room = asyncio.Semaphore(MAX_CALLS)

    @property
    def claim_s(self) -> float:
        return self._claim_ms / 1000

    async def take(self, file_key: str) -> Taken:
        """Ask for a file. If we have a claim on it already, it is renewed."""
        call = TakeMedia(file_key, self._owner, self._claim_ms)
        reply = await self._run(TAKE.call(self._prefix, NO_CONFIG, call))
        state, blobs = TAKE.read_with_blobs(reply)
        return Taken(state, *blobs)

    async def finish(self, file_key: str, result: bytes, keep_ms: int) -> None:
        """The download succeeded."""
        await self._end(file_key, max(1, keep_ms), result)

    async def release(self, file_key: str) -> None:
        """The download failed; another worker may try."""
        await self._end(file_key, 0, b"")

    async def _end(self, file_key: str, keep_ms: int, result: bytes) -> None:
        call = EndMedia(file_key, self._owner, keep_ms)
        await self._run(END.call(self._prefix, NO_CONFIG, call, [result]))

    async def _run(self, command: Command) -> Any:
        async with self._room:
            [reply] = await self._client.run([command])
        return reply

"""Scrapy's media pipelines in a crawl of several workers: only one of them downloads a file.

Within a process Scrapy ensures that itself, and a file that is in its files store is not downloaded
at all. The rest is handled here: the first worker downloads, the others wait for its result and use
that. They may not have the file: if each worker stores files on its own disk, a result names the
path of a file on another disk.

Results are valid for as long as the pipeline says that files are (FILES_EXPIRES), but not beyond
the crawl: one that starts over asks the files store again, as Scrapy does. Failures are not
remembered.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast

import msgspec
from scrapy import Request
from scrapy.pipelines.media import FileInfo, MediaPipeline

from weft.clock import monotonic_s
from weft.errors import EngineError, StoreError

if TYPE_CHECKING:
    from weft.cluster.media import MediaClaims

#: How long to wait for another worker before we download a file too.
MAX_WAIT_S = 600.0
#: The pause between two checks for the result doubles, from the first to the longest.
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
#: Renewals in the lifetime of a claim.
RENEWALS = 3
#: How long results are valid if a pipeline does not say; and the minimum.
DEFAULT_EXPIRES_DAYS = 90
LEAST_KEPT_MS = 3_600_000
_DAY_MS = 24 * 3_600_000

# What a media pipeline calls when the files store does not have a file.
_DOWNLOAD = "_check_media_to_download"

Download = Callable[[], Awaitable[FileInfo]]


def share_downloads(pipeline: MediaPipeline, claims: Callable[[], "MediaClaims | None"]) -> None:
    """Let it download only what no other worker does. `claims` returns None if there are none."""
    download = getattr(pipeline, _DOWNLOAD, None)
    if download is None:
        raise EngineError(
            "this version of Scrapy downloads media files in a way that Weft does not know; "
            "install the Scrapy version that this Weft was made for"
        )

    async def download_once(request: Request, info: object, item: Any = None) -> FileInfo:
        def go() -> Awaitable[FileInfo]:
            return cast(Awaitable[FileInfo], download(request, info, item=item))

        others = claims()
        if others is None:
            return await go()
        return await WantedFile(pipeline, request, others).result_of(go)

    setattr(pipeline, _DOWNLOAD, download_once)


class WantedFile:
    """A file that one of our pipelines wants."""

    def __init__(self, pipeline: MediaPipeline, request: Request, claims: "MediaClaims") -> None:
        self._pipeline = pipeline
        self._claims = claims
        self._key = file_key(pipeline, request)

    async def result_of(self, download: Download) -> FileInfo:
        """The result of another worker, or else our own."""
        packed = await self._result_of_others()
        if packed:
            self._pipeline.crawler.stats.inc_value("media/shared")
            return cast(FileInfo, msgspec.msgpack.decode(packed))
        result = None
        try:
            async with self._renewing():
                result = await download()
        finally:
            await self._tell(result)
        return result

    async def _result_of_others(self) -> bytes:
        """Empty if we have to download the file."""
        give_up_at_s = monotonic_s() + MAX_WAIT_S
        pause_s = FIRST_PAUSE_S
        while True:
            taken = await self._claims.take(self._key)
            if not taken.is_elsewhere or monotonic_s() >= give_up_at_s:
                return taken.result
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    @asynccontextmanager
    async def _renewing(self) -> AsyncIterator[None]:
        renewals = asyncio.ensure_future(self._renew())
        try:
            yield
        finally:
            renewals.cancel()

    async def _renew(self) -> None:
        # If the store does not answer, the claim ends: at worst the file is downloaded twice.
        with suppress(StoreError):
            while True:
                await asyncio.sleep(self._claims.claim_s / RENEWALS)
                await self._claims.take(self._key)

    async def _tell(self, result: FileInfo | None) -> None:
        packed = pack_result(result) if result else b""
        with suppress(StoreError):
            if packed:
                await self._claims.finish(self._key, packed, kept_ms(self._pipeline))
            else:
                await self._claims.release(self._key)


def file_key(pipeline: MediaPipeline, request: Request) -> str:
    """A key that all workers compute for the same file of the same pipeline. Two pipelines make
    different files from one URL."""
    kind = type(pipeline)
    digest = blake2b(f"{kind.__module__}.{kind.__qualname__} ".encode(), digest_size=16)
    digest.update(pipeline.crawler.request_fingerprinter.fingerprint(request))
    return digest.hexdigest()


def kept_ms(pipeline: MediaPipeline) -> int:
    """How long its results are valid."""
    days = getattr(pipeline, "expires", DEFAULT_EXPIRES_DAYS)
    return max(LEAST_KEPT_MS, days * _DAY_MS)


def pack_result(result: object) -> bytes:
    """Empty if it is not plain data, because others could not get the same result."""
    try:
        packed = msgspec.msgpack.encode(result)
        return packed if msgspec.msgpack.decode(packed) == result else b""
    except (TypeError, ValueError, OverflowError, RecursionError):
        return b""

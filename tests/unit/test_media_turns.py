"""When a media pipeline downloads, and when it takes what another worker has."""

import asyncio
from collections.abc import Awaitable
from datetime import datetime
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.pipelines.files import FilesPipeline
from scrapy.pipelines.media import FileInfo, MediaPipeline
from scrapy.utils.test import get_crawler

from weft.cluster.media import MediaClaims, MediaState, Taken
from weft.engine.extensions import media as module
from weft.engine.extensions.media import file_key, kept_ms, pack_result, share_downloads
from weft.errors import EngineError

RESULT: FileInfo = {"url": "http://a/1", "path": "1", "checksum": None, "status": "downloaded"}


class OwnPipeline(FilesPipeline):
    pass


def make_pipeline(kind: type[FilesPipeline] = FilesPipeline, **settings: Any) -> FilesPipeline:
    crawler = get_crawler(Spider, {"FILES_STORE": "files"} | settings)
    return kind.from_crawler(crawler)


class Claims:
    """Answers as it is told to, in this order; writes down what it is told."""

    claim_s = 60.0

    def __init__(self, *answers: Taken) -> None:
        self._answers = list(answers)
        self.told: list[object] = []

    async def take(self, key: str) -> Taken:
        return self._answers.pop(0)

    async def finish(self, key: str, result: bytes, kept_for_ms: int) -> None:
        self.told.append((result, kept_for_ms))

    async def release(self, key: str) -> None:
        self.told.append("released")


async def downloaded(claims: Claims | None, result: object = RESULT) -> tuple[object, int]:
    """What a pipeline has in the end, and how often it downloaded."""
    pipeline = make_pipeline()
    downloads = 0

    async def download(request: Request, info: object, item: object) -> object:
        nonlocal downloads
        downloads += 1
        if isinstance(result, Exception):
            raise result
        return result

    vars(pipeline)["_check_media_to_download"] = download
    share_downloads(pipeline, lambda: cast(MediaClaims, claims))
    ask = cast(Any, pipeline)._check_media_to_download

    return await cast(Awaitable[object], ask(Request("http://a/1"), None, item={})), downloads


async def test_alone_it_downloads() -> None:
    assert await downloaded(None) == (RESULT, 1)


async def test_the_first_downloads_and_tells_the_result() -> None:
    claims = Claims(Taken(MediaState.OURS))
    assert await downloaded(claims) == (RESULT, 1)
    assert claims.told == [(pack_result(RESULT), 90 * 24 * 3_600_000)]


async def test_the_next_waits_for_the_result() -> None:
    wait, done = Taken(MediaState.WAIT), Taken(MediaState.DONE, pack_result(RESULT))
    claims = Claims(wait, wait, done)
    assert await downloaded(claims) == (RESULT, 0)
    assert claims.told == []


async def test_nobody_waits_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAIT_S", 0.0)
    claims = Claims(Taken(MediaState.WAIT))
    assert await downloaded(claims) == (RESULT, 1)


async def test_a_failure_lets_another_try() -> None:
    claims = Claims(Taken(MediaState.OURS))
    with pytest.raises(OSError, match="refused"):
        await downloaded(claims, OSError("refused"))
    assert claims.told == ["released"]


async def test_what_is_no_plain_data_is_not_told() -> None:
    claims = Claims(Taken(MediaState.OURS))
    result = {"at": datetime(2027, 1, 1)}
    assert await downloaded(claims, result) == (result, 1)
    assert claims.told == ["released"]


async def test_a_claim_is_renewed_while_a_file_is_downloaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Claims, "claim_s", 0.003)
    renewed = asyncio.Event()

    class Renewed(Claims):
        async def take(self, key: str) -> Taken:
            if not self._answers:
                renewed.set()
                return Taken(MediaState.OURS)
            return await super().take(key)

    pipeline = make_pipeline()

    async def download(request: Request, info: object, item: object) -> FileInfo:
        await renewed.wait()
        return RESULT

    vars(pipeline)["_check_media_to_download"] = download
    claims = Renewed(Taken(MediaState.OURS))
    share_downloads(pipeline, lambda: cast(MediaClaims, claims))
    ask = cast(Any, pipeline)._check_media_to_download
    assert await ask(Request("http://a/1"), None, item={}) == RESULT


def test_files_are_told_apart_by_request_and_pipeline() -> None:
    one = make_pipeline()
    keys = {
        file_key(one, Request("http://a/1")),
        file_key(one, Request("http://a/1#top")),
        file_key(one, Request("http://a/2")),
        file_key(make_pipeline(OwnPipeline), Request("http://a/1")),
    }
    assert len(keys) == 3


def test_results_hold_as_long_as_files_do() -> None:
    assert kept_ms(make_pipeline(FILES_EXPIRES=2)) == 2 * 24 * 3_600_000
    assert kept_ms(make_pipeline(FILES_EXPIRES=0)) == 3_600_000


def test_a_pipeline_of_another_scrapy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = make_pipeline()
    monkeypatch.delattr(MediaPipeline, "_check_media_to_download")
    with pytest.raises(EngineError, match="install the Scrapy version"):
        share_downloads(pipeline, lambda: None)

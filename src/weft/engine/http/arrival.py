"""An answer as it comes in: what signal handlers hear of it, how much of it is wanted, its end."""

import asyncio
import logging

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    ResponseDataLossError,
    StopDownload,
)
from twisted.web.iweb import UNKNOWN_LENGTH

from weft.clock import monotonic_s
from weft.engine.http.answer import Answer
from weft.engine.http.answerlimits import AnswerLimits
from weft.engine.scrapy.listeners import is_heard

logger = logging.getLogger(__name__)


class Arrival:
    """`done` is set when there is an answer, or fails with one of Scrapy's errors."""

    def __init__(self, request: Request, limits: AnswerLimits, crawler: Crawler) -> None:
        self.request = request
        self.answer = Answer(is_head=request.method == "HEAD")
        self.flags: list[str] | None = None
        self.stop: StopDownload | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        #: All of it has come.
        self.is_complete = False
        #: This moment counts for the delay of its host, not the start of the host lookup.
        self.sent_at_s = monotonic_s()
        self._limits = limits
        self._crawler = crawler
        self._size_bytes = 0
        self._is_large = False

    @property
    def is_over(self) -> bool:
        return self.done.done()

    def note_head(self) -> None:
        self.request.meta["download_latency"] = monotonic_s() - self.sent_at_s
        if is_heard(self._crawler, signals.headers_received):
            length = self.answer.length
            self._tell(
                signals.headers_received,
                headers=self.answer.headers(),
                body_length=UNKNOWN_LENGTH if length is None else length,
            )
        if self.answer.length:
            self._check_size(self.answer.length, is_expected=True)

    def note_body(self, data: bytes) -> None:
        self._size_bytes += len(data)
        if is_heard(self._crawler, signals.bytes_received):
            self._tell(signals.bytes_received, data=data)
        self._check_size(self._size_bytes, is_expected=False)

    def note_end(self, flags: list[str] | None = None) -> None:
        self.is_complete = True
        self.flags = flags
        self.done.set_result(None)

    def note_loss(self, why: str) -> None:
        if self._limits.fails_on_loss:
            self.fail(ResponseDataLossError(why))
        else:
            self.flags = ["dataloss"]
            self.done.set_result(None)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def _tell(self, signal: object, **arguments: object) -> None:
        # Here, for it loads Twisted's HTTP client, and few crawls listen.
        from scrapy.utils._download_handlers import check_stop_download

        self.stop = check_stop_download(signal, self._crawler, self.request, **arguments)
        if self.stop is not None:
            self.done.set_result(None)

    def _check_size(self, size_bytes: int, *, is_expected: bool) -> None:
        limits = self._limits
        if self.done.done():
            return
        if 0 < limits.max_bytes < size_bytes:
            self._refuse_size(size_bytes, is_expected=is_expected)
        elif 0 < limits.warn_bytes < size_bytes and not self._is_large:
            self._is_large = True
            self._warn_of_size(size_bytes, is_expected=is_expected)

    def _refuse_size(self, size_bytes: int, *, is_expected: bool) -> None:
        from scrapy.utils._download_handlers import get_maxsize_msg  # as above

        problem = get_maxsize_msg(
            size_bytes, self._limits.max_bytes, self.request, expected=is_expected
        )
        logger.warning(problem)
        self.answer.body.clear()
        self.fail(DownloadCancelledError(problem))

    def _warn_of_size(self, size_bytes: int, *, is_expected: bool) -> None:
        from scrapy.utils._download_handlers import get_warnsize_msg  # as above

        limit_bytes = self._limits.warn_bytes
        logger.warning(
            get_warnsize_msg(size_bytes, limit_bytes, self.request, expected=is_expected)
        )

"""One request on its way, until its answer is complete, has failed or is wanted no longer."""

import asyncio
import logging

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    ResponseDataLossError,
    StopDownload,
)
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg
from twisted.web.iweb import UNKNOWN_LENGTH

from weft.clock import monotonic_s
from weft.engine.http.answer import Answer
from weft.engine.http.limits import Limits
from weft.engine.http.order import Order
from weft.engine.http.reader import Reader
from weft.engine.listeners import is_heard

logger = logging.getLogger(__name__)


class Exchange:
    """`done` is set when there is an answer, or fails with one of Scrapy's errors."""

    def __init__(self, order: Order, limits: Limits, crawler: Crawler) -> None:
        self.request = request = order.request
        self.cuts = order.cuts
        self.answer = Answer(is_head=request.method == "HEAD")
        self.flags: list[str] | None = None
        self.stop: StopDownload | None = None
        #: Anything at all has come.
        self.has_begun = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._limits = limits
        self._crawler = crawler
        # It is sent at once: there is a connection for it. What counts for the delay of its host is
        # this moment, not the one at which someone began to look for the host.
        self._sent_at_s = monotonic_s()
        self._size_bytes = 0
        self._is_large = False
        self._is_complete = False
        self._reader = Reader(self.answer, self)

    @property
    def is_reusable(self) -> bool:
        """Whether the connection is good for another request."""
        return self._is_complete and self._reader.is_reusable

    # What the connection tells

    def feed(self, data: bytes) -> None:
        self.has_begun = True
        self._reader.feed(data)

    def end(self, error: Exception | None) -> None:
        """The connection is gone."""
        if not self.is_over:
            self._reader.end(error)

    def expire(self) -> None:
        self.fail(TimeoutError())

    def close(self) -> None:
        """Nobody feeds it any more. The reader refers to us: without this the garbage collector
        would have to find each request with all that it brought."""
        self._reader.close()
        del self._reader

    # What the reader tells

    @property
    def is_over(self) -> bool:
        return self.done.done()

    def note_head(self) -> None:
        self.request.meta["download_latency"] = monotonic_s() - self._sent_at_s
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
        self._is_complete = True
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
        self.stop = check_stop_download(signal, self._crawler, self.request, **arguments)
        if self.stop is not None:
            self.done.set_result(None)

    def _check_size(self, size_bytes: int, *, is_expected: bool) -> None:
        limits = self._limits
        if self.done.done():
            return
        if 0 < limits.max_bytes < size_bytes:
            problem = get_maxsize_msg(
                size_bytes, limits.max_bytes, self.request, expected=is_expected
            )
            logger.warning(problem)
            self.answer.body.clear()
            self.fail(DownloadCancelledError(problem))
        elif 0 < limits.warn_bytes < size_bytes and not self._is_large:
            self._is_large = True
            logger.warning(
                get_warnsize_msg(size_bytes, limits.warn_bytes, self.request, expected=is_expected)
            )

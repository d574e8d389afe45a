"""Parses one answer from the data that comes on a connection.

The answer may have no body (HEAD, 204, 304), one of a known length, one in chunks, or one that ends
with the connection; informational answers may come before it.
"""

from typing import Protocol

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)
from scrapy.exceptions import DownloadFailedError

from weft.engine.http.answer import Answer
from weft.engine.http.repair import may_be_http, repaired

#: Maximum data in a row that is not part of a body: a head, trailers, chunk extensions.
MAX_HEAD_BYTES = 256 * 1024


class Watcher(Protocol):
    """Is notified of the progress of an answer; after `is_over` the rest does not matter."""

    @property
    def is_over(self) -> bool: ...

    def note_head(self) -> None: ...

    def note_body(self, data: bytes) -> None: ...

    def note_end(self, flags: list[str] | None = None) -> None: ...

    def note_loss(self, why: str) -> None:
        """The data after the head did not come, or makes no sense."""

    def fail(self, error: Exception) -> None: ...


class AnswerParser:
    def __init__(self, answer: Answer, watcher: Watcher) -> None:
        self._answer = answer
        self._watcher = watcher
        self._has_head = False
        self._keeps_alive = False
        #: More data has come than the answer.
        self._has_excess = False
        #: The head as far as it has come, in case it must be repaired.
        self._early: list[bytes] = []
        self._is_repaired = False
        #: The last data contained some of a body.
        self._has_body = False
        self._overhead_bytes = 0
        self._start()

    def _start(self) -> None:
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_keep_alive=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    @property
    def is_reusable(self) -> bool:
        """Whether the connection is good for another request, once the answer is complete."""
        if self._has_excess:
            return False
        if self._answer.is_head:  # the parser does not know that there is no body
            return self._answer.version == "1.1" and not self._answer.wants_close
        return self._keeps_alive

    def feed(self, data: bytes) -> None:
        self._has_body = False
        if not self._has_head:
            self._early.append(data)
        self._parse(data)
        if not self._watcher.is_over:
            self._note_overhead(0 if self._has_body else len(data))

    def end(self, error: Exception | None) -> None:
        """The connection is gone."""
        if not self._has_head:
            why = str(error or "the server closed the connection before it had answered")
            self._watcher.fail(DownloadFailedError(why))
        elif self._answer.is_framed:
            self._watcher.note_loss(str(error or "the server closed the connection too early"))
        else:
            # Scrapy's flag for a body that may or may not be complete.
            self._watcher.note_end(["partial"])

    def close(self) -> None:
        """Drop the parser, which refers to us."""
        del self._parser

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._watcher.fail(DownloadFailedError("the server switched to another protocol"))
        except HttpParserError as error:
            self._handle_error(error)

    def _handle_error(self, error: HttpParserError) -> None:
        if self._watcher.is_over:
            self._has_excess = True
        elif isinstance(error, HttpParserCallbackError):
            cause = error.__context__
            self._watcher.fail(cause if isinstance(cause, Exception) else error)
        elif self._has_head:
            self._watcher.note_loss(str(error))
        else:
            self._try_repair(error)

    def _try_repair(self, error: HttpParserError) -> None:
        received = b"".join(self._early)
        if self._is_repaired or not may_be_http(received):
            problem = f"the server did not answer with HTTP: {error}; it sent {received[:80]!r}"
            self._watcher.fail(DownloadFailedError(problem))
            return
        head = repaired(received)
        if head is not None:  # else the parser fails again when the rest has come
            self._is_repaired = True
            self._answer.forget_head()
            self._start()
            self._parse(head)

    def _note_overhead(self, size_bytes: int) -> None:
        self._overhead_bytes = self._overhead_bytes + size_bytes if size_bytes else 0
        if self._overhead_bytes > MAX_HEAD_BYTES:
            what = "trailers" if self._has_head else "headers"
            self._watcher.fail(DownloadFailedError(f"more than {MAX_HEAD_BYTES} bytes of {what}"))

    # Called by the parser

    def on_message_begin(self) -> None:
        self._has_excess = self._watcher.is_over

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # else it is a trailer
            self._answer.add(name, value)

    def on_headers_complete(self) -> None:
        if self._watcher.is_over:
            return
        answer = self._answer
        answer.status = self._parser.get_status_code()
        if 100 <= answer.status < 200:
            answer.forget_head()
            return
        self._has_head = True
        self._early.clear()
        answer.version = self._parser.get_http_version()
        answer.read_framing()
        self._watcher.note_head()
        if answer.is_head and not self._watcher.is_over:
            self._watcher.note_end()

    def on_body(self, data: bytes) -> None:
        if self._watcher.is_over:
            self._has_excess = True
            return
        self._has_body = True
        self._answer.add_body(data)
        self._watcher.note_body(data)

    def on_message_complete(self) -> None:
        if self._has_head and not self._watcher.is_over:
            self._keeps_alive = self._parser.should_keep_alive()  # unknown afterwards
            self._watcher.note_end()

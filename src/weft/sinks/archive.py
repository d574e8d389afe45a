"""Where raw pages go: the contract of an archive. `make_archive` makes the one that `-o` names."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from weft.errors import ConfigError
from weft.sinks.base import SinkConfig
from weft.sinks.extras import needs_extra

WARC_SCHEME = "warc://"

Headers = tuple[tuple[bytes, bytes], ...]


class RawPage(msgspec.Struct, frozen=True):
    """A request and the response to it."""

    url: str
    status: int
    headers: Headers
    #: As received, still compressed if it was; only the chunks are joined.
    body: bytes
    #: When it was received.
    fetched_at_ms: int
    protocol: str = "HTTP/1.1"
    #: Address of the server; empty: unknown.
    ip: str = ""
    #: Why the rest of the body is missing, as a WARC reason; empty: the body is complete.
    truncated: str = ""
    method: str = "GET"
    request_headers: Headers = ()
    request_body: bytes = b""


class Archive(Protocol):
    """Stores pages durably, each as often as it was fetched.

    `store` returns when the pages are on disk (fsync). After that neither `kill -9` nor a power
    failure loses them. A `store` that dies or fails has stored none, some or all of its batch, and
    what it has stored is readable after the next `open`. It need not be idempotent: a page that is
    fetched again after a kill, or by another worker, was answered twice, and both answers are kept.

    Construction, `open`, `close`, order and errors are as for a `Sink`.
    """

    @property
    def place(self) -> str: ...

    async def open(self) -> None: ...

    async def store(self, pages: Sequence[RawPage]) -> None: ...

    async def clear(self) -> None:
        """Remove all pages of the job, because its crawl starts over."""
        ...

    async def close(self) -> None: ...


def is_archive(output: str) -> bool:
    """Whether raw pages go there, rather than items."""
    return output.lower().startswith(WARC_SCHEME)


def make_archive(output: str, config: SinkConfig) -> Archive:
    """The archive for `output`, not opened yet. Raises ConfigError."""
    directory = output[len(WARC_SCHEME) :]
    if not directory.strip("/"):
        raise ConfigError(
            f"{output} does not name a directory; write warc://DIR, or warc:///DIR for an absolute "
            "path"
        )
    with needs_extra("warc", output, "pages"):
        from weft.sinks.warc.archive import WarcArchive

        return WarcArchive(directory, config.job)

"""Where raw pages go: the contract of an archive. `make_archive` chooses it by what `-o` says."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from weft.errors import ConfigError
from weft.sinks.base import SinkConfig
from weft.sinks.extras import needs_extra

WARC_SCHEME = "warc://"

Headers = tuple[tuple[bytes, bytes], ...]


class Page(msgspec.Struct, frozen=True):
    """A request and what the network answered to it."""

    url: str
    status: int
    headers: Headers
    #: As it came over the wire, compressed if it was; only chunks are put together.
    body: bytes
    #: When it came.
    fetched_at_ms: int
    protocol: str = "HTTP/1.1"
    #: Address of the server; empty: nobody knows.
    ip: str = ""
    #: Why the rest of the body is missing, in the words of WARC; empty: it is whole.
    truncated: str = ""
    method: str = "GET"
    request_headers: Headers = ()
    request_body: bytes = b""


class Archive(Protocol):
    """Keeps pages, durably, and each as often as it was fetched.

    `store` returns when the pages are on disk (fsync); then neither `kill -9` nor a power failure
    loses them. A `store` that dies or fails has stored nothing, some or all of its batch, and what
    it has stored is readable after the next `open`. It is not idempotent, and need not be: a page
    that is fetched again after a kill, or by another worker, was answered twice, and both answers
    are kept.

    For the rest (construction, `open`, `close`, order, errors) it is as with a `Sink`.
    """

    @property
    def place(self) -> str: ...

    async def open(self) -> None: ...

    async def store(self, pages: Sequence[Page]) -> None: ...

    async def clear(self) -> None:
        """Remove all pages of the job: its crawl starts over."""
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
            f"{output} names no directory; say warc://DIR, or warc:///DIR from the root"
        )
    with needs_extra("warc", output, "pages"):
        from weft.sinks.warc import WarcArchive

        return WarcArchive(directory, config.job)

"""Why a page could not be had, in words for who wrote its board."""

import re

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)

from weft.engine.claims.outcome import describe

_SIZES = re.compile(r"(\d+) (?:bytes )?which is larger than download max size \((\d+)\)")
_WORDS = {
    CannotResolveHostError: "there is no such host",
    DownloadConnectionRefusedError: "its server refuses connections, as if it were down",
    DownloadTimeoutError: "no answer in time",
}


def told(error: BaseException | None) -> str:
    """What other errors say follows the name of their class."""
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words
    if isinstance(error, DownloadCancelledError) and (sizes := _SIZES.search(str(error))):
        size, limit = (int(number) for number in sizes.groups())
        return f"too large: {size:,} bytes, more than {limit:,} (DOWNLOAD_MAXSIZE)"
    return describe(error) if isinstance(error, Exception) else str(error)

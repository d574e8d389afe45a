"""Repairs heads of answers that are not quite HTTP, but that browsers and Scrapy understand."""

import logging
import re

logger = logging.getLogger(__name__)

_START = b"HTTP/"
_END = re.compile(rb"\r?\n\r?\n")


def may_be_http(received: bytes) -> bool:
    return received.startswith(_START[: len(received)])


def repaired(received: bytes) -> bytes | None:
    """Remove lines that are not headers because they have no colon.

    Returns None if the head is not complete yet.
    """
    end = _END.search(received)
    if end is None:
        return None
    status, *lines = received[: end.start()].split(b"\n")
    kept = [line.rstrip(b"\r") for line in lines if _is_header(line)]
    return b"\r\n".join([status.rstrip(b"\r"), *kept, b"", received[end.end() :]])


def _is_header(line: bytes) -> bool:
    if b":" in line or line[:1] in (b" ", b"\t"):
        return True
    header = line.rstrip(b"\r")
    logger.debug("Skipping the bad response header line %r, as it has no colon.", header)
    return False

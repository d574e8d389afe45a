"""The lines of a file of JSON lines, and their repair after an incomplete write."""

import json
import logging

from weft.sinks.disk.lockedfile import LockedFile

BLOCK_BYTES = 64 * 1024

logger = logging.getLogger(__name__)


def is_json(text: bytes) -> bool:
    """Whether this is one complete JSON value; lenient (NaN), as others may have written it."""
    try:
        json.loads(text.decode())
    except (ValueError, RecursionError):
        return False
    return True


def whole_lines_bytes(data: bytes) -> int:
    """The length of the complete JSON lines at the start of `data`."""
    length = 0
    for line in data.split(b"\n")[:-1]:
        if not is_json(line):
            break
        length += len(line) + 1
    return length


def is_line_start(file: LockedFile, offset: int) -> bool:
    return offset == 0 or file.read(offset - 1, offset) == b"\n"


def last_line_start(file: LockedFile) -> int:
    """Return the start of a last line without a newline; else the file's size."""
    end = file.size_bytes()
    while end > 0:
        start = max(0, end - BLOCK_BYTES)
        newline = file.read(start, end).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def repair_lines(file: LockedFile, start: int) -> None:
    """From `start` on, keep only complete JSON lines; add a missing newline."""
    tail = file.read(start, file.size_bytes())
    kept = whole_lines_bytes(tail)
    rest = tail[kept:]
    if rest and is_json(rest):
        file.append(b"\n")
    elif rest:
        file.cut(start + kept)
        logger.warning("%s: cut off %d bytes of half-written lines", file.path, len(rest))
    else:
        file.sync()  # a killed writer may have left lines that are not on disk

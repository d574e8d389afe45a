"""Pages that wait until they are due, as they stand in Redis: one by one, or in compressed blocks.

A page alone takes some 350 bytes, one in a block some 45. So only those are alone that are due
soon, and those that came lately; the others are in blocks of up to a thousand. A block is opened
shortly before its first page is due; what is in it is arranged anew. The later pages are due, the
longer is the time that a block spans: so a page is moved a few times only, however long it waits.
"""

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import NamedTuple

import msgspec

from weft.frontier.redis import entry as entries
from weft.frontier.redis.blocks import compress, decompress
from weft.frontier.redis.entry import Entry
from weft.records import Order, PackedRequest, PageKind
from weft.urls import fingerprint

#: What is due within this time is not put into blocks.
SOON_MS = 40_000
#: A block is opened so long before its first page is due.
AHEAD_MS = 10_000
#: Pages of a block at most; those that it must have before it ends for the time that it spans; and
#: those that are worth a block.
MOST, ENOUGH, LEAST = 1_000, 128, 8
#: A block that begins in a minute ends within so many minutes.
SPAN = 4
#: They are kept for long, and there are many: it pays to compress them well.
LEVEL = 12

#: Stands for the fingerprint that follows from the URL: those bytes cannot be compressed.
_BY_URL = -1
_BLOCK = "B"
# P, fingerprint, kind, level and its length, length of the host; see waiting.lua.
_HEAD = Struct(">cQBB")
_LENGTH = Struct(">H")
_BASE = Struct(">Q")


class WaitingPage(NamedTuple):
    due_at_ms: int
    host: str
    kind: PageKind
    entry: Entry

    @property
    def request(self) -> PackedRequest:
        return self.full_entry.request(self.host, self.kind)

    @property
    def full_entry(self) -> Entry:
        """With its fingerprint."""
        if self.entry.fingerprint != _BY_URL:
            return self.entry
        return _numbered(self.entry, fingerprint(self.entry.request(self.host, self.kind).url))


class _Row(msgspec.Struct, frozen=True):
    """A page in a block; its times are relative."""

    host: str
    due_in_ms: int
    fingerprint: int
    start: int
    rest: str
    age_ms: int
    found_on: int
    payload: bytes
    priority: int
    url_fingerprint: int
    is_forced: bool
    nonce: int


class Arranged(NamedTuple):
    """Pages that stay alone, and those of each block."""

    alone: list[WaitingPage]
    blocks: list[list[WaitingPage]]


def arrange(pages: Iterable[WaitingPage], now_ms: int, *, at_least: int = 0) -> Arranged:
    """`at_least`: so many stay alone, whenever they are due."""
    in_order = sorted(pages, key=lambda page: page.due_at_ms)
    alone = in_order[:at_least]
    by_kind: dict[PageKind, list[WaitingPage]] = {kind: [] for kind in PageKind}
    for page in in_order[at_least:]:
        if page.due_at_ms < now_ms + SOON_MS:
            alone.append(page)
        else:
            by_kind[page.kind].append(page)
    blocks = []
    for own in by_kind.values():
        for part in _cut(own, now_ms):
            if len(part) < LEAST:
                alone += part
            else:
                blocks.append(part)
    return Arranged(alone, blocks)


def _cut(pages: Sequence[WaitingPage], now_ms: int) -> Iterator[list[WaitingPage]]:
    part: list[WaitingPage] = []
    for page in pages:
        if part and (len(part) == MOST or _is_wide(part, page, now_ms)):
            yield part
            part = []
        part.append(page)
    if part:
        yield part


def _is_wide(part: Sequence[WaitingPage], page: WaitingPage, now_ms: int) -> bool:
    return len(part) >= ENOUGH and page.due_at_ms - now_ms > SPAN * (part[0].due_at_ms - now_ms)


# A page alone


def pack_page(request: PackedRequest, entry: Entry, order: Order) -> bytes:
    level = str(request.priority) if order is Order.PRIORITY else "0"
    host = request.host.encode()
    head = _HEAD.pack(b"P", request.fingerprint, request.kind, len(level)) + level.encode()
    return head + _LENGTH.pack(len(host)) + host + entries.encode(entry)


def unpack_page(packed: bytes, due_at_ms: int) -> WaitingPage | None:
    """None: it is the name of a block."""
    if packed.startswith(_BLOCK.encode()):
        return None
    _, _, kind, length = _HEAD.unpack_from(packed)
    place = _HEAD.size + length
    (length,) = _LENGTH.unpack_from(packed, place)
    end = place + _LENGTH.size + length
    host = packed[place + _LENGTH.size : end].decode()
    return WaitingPage(due_at_ms, host, PageKind(kind), entries.unpack(packed[end:]))


# Blocks


def name_block(pages: Sequence[WaitingPage], nonce: str) -> str:
    return f"{_BLOCK}{pages[0].kind:d}:{len(pages)}:{nonce}"


def first_due_at_ms(member: bytes, at_ms: int) -> int:
    """When a page, or the first of a block, is due; `at_ms`: where it stands in `waiting`."""
    return at_ms + AHEAD_MS if member.startswith(_BLOCK.encode()) else at_ms


def kind_of(name: bytes) -> PageKind:
    return PageKind(int(name[1:2]))


def size_of(name: bytes) -> int:
    """How many pages a block has."""
    return int(name.split(b":")[1])


def pack_block(pages: Sequence[WaitingPage]) -> bytes:
    """Those of a host stand together: their URLs are alike."""
    base_ms = min(page.due_at_ms for page in pages)
    rows = [_row(page, base_ms) for page in sorted(pages, key=lambda p: (p.host, p.due_at_ms))]
    return _BASE.pack(base_ms) + compress(rows, LEVEL)


def unpack_block(name: bytes, block: bytes) -> list[WaitingPage]:
    (base_ms,) = _BASE.unpack_from(block)
    kind = kind_of(name)
    return [_page(row, base_ms, kind) for row in decompress(block[_BASE.size :], _Row)]


def _row(page: WaitingPage, base_ms: int) -> _Row:
    entry = page.entry
    number = entry.fingerprint
    if number != _BY_URL and number == fingerprint(entry.request(page.host, page.kind).url):
        number = _BY_URL
    return _Row(
        host=page.host,
        due_in_ms=page.due_at_ms - base_ms,
        fingerprint=number,
        start=entry.start,
        rest=entry.rest,
        age_ms=base_ms - entry.at_ms,
        found_on=entry.found_on,
        payload=entry.payload,
        priority=entry.priority,
        url_fingerprint=entry.url_fingerprint,
        is_forced=entry.is_forced,
        nonce=entry.nonce,
    )


def _page(row: _Row, base_ms: int, kind: PageKind) -> WaitingPage:
    entry = Entry(
        fingerprint=row.fingerprint,
        start=row.start,
        rest=row.rest,
        at_ms=base_ms - row.age_ms,
        found_on=row.found_on,
        payload=row.payload,
        priority=row.priority,
        url_fingerprint=row.url_fingerprint,
        is_forced=row.is_forced,
        nonce=row.nonce,
    )
    return WaitingPage(base_ms + row.due_in_ms, row.host, kind, entry)


def _numbered(entry: Entry, number: int) -> Entry:
    return msgspec.structs.replace(entry, fingerprint=number)

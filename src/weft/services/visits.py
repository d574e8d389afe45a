"""What the earlier visits to a page of a board have left, read from its packed request.

Scrapy is not needed for that: of all that a payload can hold, this reads plain values and tuples.
"""

from typing import Any

import msgspec

from weft.boards.foundas import FoundAs
from weft.boards.refresh import RefreshState, in_words, tell_visits

#: The code of a tuple; see engine/requests/packedvalues.py.
_TUPLE = 1


class PageVisits(msgspec.Struct, frozen=True):
    """In words, for people."""

    board: str
    #: Why the page is visited as often as it is; empty: it was not visited yet.
    why: str = ""
    #: What the last visits brought, the latest first.
    brought: tuple[str, ...] = ()
    #: The board names the page itself.
    is_entry: bool = False


class _Context(msgspec.Struct, frozen=True):
    """The part of `engine.boards.context.PageContext` that tells of visits."""

    board: str
    found_as: FoundAs = FoundAs.TOPIC
    state: RefreshState | None = None


class _Arguments(msgspec.Struct, frozen=True):
    context: _Context


class _Payload(msgspec.Struct, frozen=True):
    cb_kwargs: _Arguments


def visits_of(payload: bytes) -> PageVisits | None:
    """None: it is not the request of a board's page."""
    try:
        plain = msgspec.msgpack.decode(payload, ext_hook=_thaw)
        context = msgspec.convert(plain, _Payload).cb_kwargs.context
    except msgspec.MsgspecError:
        return None
    is_entry = context.found_as is FoundAs.ENTRY
    if context.state is None:
        return PageVisits(context.board, is_entry=is_entry)
    brought = tuple(tell_visits(context.state))
    return PageVisits(context.board, _why(context.state), brought, is_entry)


def _thaw(code: int, raw: memoryview) -> Any:
    return msgspec.msgpack.decode(raw, ext_hook=_thaw) if code == _TUPLE else None


def _why(state: RefreshState) -> str:
    if state.failures:
        return f"the last {_visits(state.failures)} failed"
    if not state.period_s:
        return ""
    period = f"every {in_words(state.period_s)}"
    return f"nothing new in the last {_visits(state.barren)}, {period}" if state.barren else period


def _visits(number: int) -> str:
    return "visit" if number == 1 else f"{number:,} visits"

"""Replies of Redis that come in one of two forms."""

from collections.abc import Iterable, Sequence
from typing import Any


def with_scores(reply: Sequence[Any]) -> dict[bytes, int]:
    """Members of a sorted set with their scores, in order: as pairs, or one after the other."""
    is_paired = bool(reply) and isinstance(reply[0], tuple | list)
    pairs: Iterable[Any] = reply if is_paired else zip(reply[::2], reply[1::2], strict=True)
    return {member: int(float(score)) for member, score in pairs}

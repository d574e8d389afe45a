"""What boards allow their hosts."""

from collections.abc import Iterable

from weft.boards.board.board import Board, Limits
from weft.boards.board.domains import domains_of
from weft.config import HostLimits


class BoardLimits:
    """Of all boards that say something about their hosts."""

    def __init__(self, boards: Iterable[Board], of_all: HostLimits) -> None:
        """`of_all`: what holds where a board says nothing."""
        self._by_domain: dict[str, HostLimits] = {}
        for board in boards:
            if own := _host_limits(board.limits, of_all):
                for domain in domains_of(board):
                    known = self._by_domain.get(domain, own)
                    self._by_domain[domain] = own.strictest(known)

    def __bool__(self) -> bool:
        return bool(self._by_domain)

    def of(self, host: str) -> HostLimits | None:
        """What the boards that may have a host say of it, the strictest of several; None:
        nothing."""
        found: HostLimits | None = None
        while host:
            if own := self._by_domain.get(host):
                found = own.strictest(found) if found else own
            host = host.partition(".")[2]
        return found


def _host_limits(limits: Limits, of_all: HostLimits) -> HostLimits | None:
    if (limits.delay_s, limits.concurrency, limits.workers_per_host) == (None, None, None):
        return None
    return HostLimits(
        of_all.delay_ms if limits.delay_s is None else round(limits.delay_s * 1000),
        of_all.concurrency if limits.concurrency is None else limits.concurrency,
        limits.workers_per_host,
    )

"""The limits of boards, for the hosts that the crawl meets."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from weft.boards.board import Board
from weft.boards.board.limits import BoardLimits
from weft.config import HostLimits
from weft.engine.politeness.hostkeys import HostKeys
from weft.engine.politeness.limits import CrawlLimits
from weft.urls import host_key

#: Hosts that are limited at a time; those that were met the longest ago lose their limits until
#: they are met again.
MAX_HOSTS = 1_000


class _Host(NamedTuple):
    key: str
    limits: HostLimits


class LimitedHosts:
    """A board limits all hosts of its domains, and which there are shows only as they are met."""

    def __init__(self, limits: CrawlLimits, keys: HostKeys, max_hosts: int = MAX_HOSTS) -> None:
        self._limits = limits
        self._keys = keys
        self._max_hosts = max_hosts
        self._board_limits = BoardLimits([], limits.of_all)
        # By name.
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def use(self, boards: Iterable[Board]) -> None:
        """These are the boards from now on."""
        boards = [*boards]
        self._board_limits = BoardLimits(boards, self._limits.of_all)
        names = [*self._hosts, *(host_key(entry) for board in boards for entry in board.entries)]
        self._hosts.clear()
        for name in dict.fromkeys(names):
            self._note(name)
        self._put()

    def meet(self, name: str) -> None:
        """A page of this host is about to be sent for."""
        if self._board_limits and self._note(name):
            self._put()

    def _note(self, name: str) -> bool:
        """Whether the host has other limits now."""
        limits = self._board_limits.of(name)
        if limits is None:
            return False
        host = _Host(self._keys.key(name), limits)
        known = self._hosts.pop(name, None)
        self._hosts[name] = host
        while len(self._hosts) > self._max_hosts:
            self._hosts.popitem(last=False)
        return host != known

    def _put(self) -> None:
        by_key: dict[str, HostLimits] = {}
        for key, own in self._hosts.values():
            by_key[key] = own.strictest(by_key.get(key, own))
        self._limits.put(by_key)

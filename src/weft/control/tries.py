"""How often an address has shown a token that was not known."""

import ipaddress
from collections.abc import Callable

from weft.clock import monotonic_s

#: So many failed tries of one address are looked at within …
DEFAULT_TRIES = 10
#: … this time.
DEFAULT_WINDOW_S = 60.0
#: Addresses that are remembered; then the oldest are forgotten.
MAX_ADDRESSES = 10_000
#: Who has one IPv6 address has all that differ only after so many bits.
_IPV6_BITS = 64


class FailedTries:
    """Of the clients of one master."""

    def __init__(
        self,
        tries: int = DEFAULT_TRIES,
        window_s: float = DEFAULT_WINDOW_S,
        now_s: Callable[[], float] = monotonic_s,
    ) -> None:
        self._tries = tries
        self._window_s = window_s
        self._now_s = now_s
        #: By address: when its window began, and its tries since then.
        self._found: dict[str, tuple[float, int]] = {}

    def wait_s(self, address: str) -> float:
        """How long the address has to wait before its next try; 0: not at all."""
        since_s, tries = self._found.get(_network_of(address), (0.0, 0))
        left_s = since_s + self._window_s - self._now_s()
        return max(0.0, left_s) if tries >= self._tries else 0.0

    def note(self, address: str) -> None:
        network, now_s = _network_of(address), self._now_s()
        since_s, tries = self._found.pop(network, (now_s, 0))
        if now_s - since_s >= self._window_s:
            since_s, tries = now_s, 0
        self._found[network] = (since_s, tries + 1)
        if len(self._found) > MAX_ADDRESSES:
            del self._found[next(iter(self._found))]


def _network_of(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((int(found), _IPV6_BITS), strict=False))

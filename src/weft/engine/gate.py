"""The delay of a host, kept at the very moment of sending.

The frontier spaces claims by the delay of their host, but a claim may then wait for Scrapy, and
some requests never were claims: robots.txt, media files, requests that a callback sends inline.
All pass this gate last of all, one after the other. It remembers when requests were sent, not when
the next may be: only the answer to robots.txt may tell how long to wait after asking for it.
"""

import asyncio
import math

#: Hosts to remember before the one that was fetched the longest time ago is forgotten.
MAX_HOSTS = 10_000


class Gate:
    def __init__(self) -> None:
        self._sent_at_s: dict[str, float] = {}

    def wait_s(self, host: str, delay_s: float) -> float:
        """How long to wait until the last request of this host is its delay ago.

        The caller must send after that time: the next waits for it.
        """
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._sent_at_s.pop(host, -math.inf) + delay_s)
        self._sent_at_s[host] = at_s
        if len(self._sent_at_s) > MAX_HOSTS:
            del self._sent_at_s[next(iter(self._sent_at_s))]
        return at_s - now_s

    def note_sent(self, host: str, ago_s: float) -> None:
        """A request of this host really went out so long ago: it may have been held up here."""
        sent_at_s = asyncio.get_running_loop().time() - ago_s
        self._sent_at_s[host] = max(sent_at_s, self._sent_at_s.get(host, -math.inf))

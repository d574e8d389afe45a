"""The delay of a host, kept at the very moment of sending.

The frontier spaces claims by the delay of their host, but a claim may then wait for Scrapy, and
some requests never were claims: robots.txt, media files, requests that a callback sends inline.
All pass this gate last of all, one after the other.
"""

import asyncio

#: Hosts to remember before those that may be fetched again are forgotten.
MAX_HOSTS = 10_000


class Gate:
    def __init__(self) -> None:
        self._next_at_s: dict[str, float] = {}

    async def pass_through(self, host: str, delay_s: float) -> None:
        """Wait until the last request of this host is its delay ago."""
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._next_at_s.get(host, 0.0))
        self._next_at_s[host] = at_s + delay_s
        if len(self._next_at_s) > MAX_HOSTS:
            self._next_at_s = {h: s for h, s in self._next_at_s.items() if s > now_s}
        if at_s > now_s:
            await asyncio.sleep(at_s - now_s)

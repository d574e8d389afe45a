"""What hosts ask for in their answers: a pause (429, 503, Retry-After), and a Crawl-delay.

The frontier learns of both a moment later, and remembers them for longer than this process lives.
"""

from scrapy import Request
from scrapy.http import Response

from weft.config import FrontierConfig
from weft.engine.claims.outcome import Fate
from weft.engine.claims.returns import Returns
from weft.engine.politeness.hostkeys import HostKeys
from weft.engine.politeness.pauses import Pauses
from weft.engine.politeness.sendtimes import SendTimes
from weft.engine.politeness.visits import Visits
from weft.engine.requests.slots import slot_of
from weft.frontier.policy import OVERLOADED
from weft.urls import host_key

#: Hosts whose Crawl-delay is remembered in this process.
MAX_HOSTS = 10_000
#: When a host has asked for a pause, its claims are given back after this time at the latest: by
#: then the frontier knows of it too.
GIVE_BACK_S = 1.0


class HostWishes:
    def __init__(
        self,
        config: FrontierConfig,
        keys: HostKeys,
        times: SendTimes,
        visits: Visits,
        returns: Returns,
    ) -> None:
        self._config = config
        self._keys = keys
        self._times = times
        self._visits = visits
        self._returns = returns
        self._pauses = Pauses()
        self._crawl_delays_s: dict[str, float] = {}

    def note_answer(
        self, request: Request, fate: Fate | None, response: Response, retry_after_ms: int
    ) -> None:
        """Note what an answer says about its host. For a claim, its outcome reports that."""
        host = self._key_of(request, fate)
        is_cached = "cached" in response.flags
        if response.status in OVERLOADED and not is_cached:
            config = self._config
            self.pause(host, max(config.backoff_ms, min(retry_after_ms, config.max_pause_ms)))
        if (fate is None or fate.is_kept) and not is_cached:
            self._visits.note_answer(host, response.status, retry_after_ms)
        # How long ago it was sent, or Scrapy's own handler began to send it.
        latency_s = request.meta.get("download_latency")
        if latency_s is not None:
            self._times.note_sent(host, latency_s)

    def note_crawl_delay(self, request: Request, fate: Fate | None, delay_s: float) -> None:
        """Note the delay that the robots.txt of a request's host asks for."""
        # As the frontier does: do not wait for a day because a robots.txt says so.
        delay_s = min(delay_s, self._config.max_pause_ms / 1000)
        if len(self._crawl_delays_s) >= MAX_HOSTS:
            self._crawl_delays_s.clear()  # the frontier has them
        # Hosts that share a host key all get the longest delay.
        key = self._key_of(request, fate)
        self._crawl_delays_s[key] = max(delay_s, self.crawl_delay_s(key))
        self._visits.note_crawl_delay(key, round(self._crawl_delays_s[key] * 1000))

    def pause(self, host: str, pause_ms: int) -> None:
        """Leave the host alone: from now on its claims wait in the frontier, not here."""
        self._pauses.begin(host, pause_ms / 1000)
        self._returns.put_back_host(host, min(GIVE_BACK_S, pause_ms / 1000))

    def crawl_delay_s(self, host: str) -> float:
        """The Crawl-delay of a host; 0 if it is not known to have one."""
        return self._crawl_delays_s.get(host, 0.0)

    def pause_left_s(self, host: str) -> float:
        """How long to leave the host alone; 0 if it asked for no pause."""
        return self._pauses.left_s(host)

    def _key_of(self, request: Request, fate: Fate | None) -> str:
        """The host key of a request that was sent."""
        if fate:
            return self._keys.key(fate.claim.request.host)
        return self._keys.key(slot_of(request) or host_key(request.url))

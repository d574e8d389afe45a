"""What hosts allow: the settings say it, and boards, which come and go while the crawl runs."""

from collections.abc import Mapping

from weft.config import HostLimits
from weft.engine.settings import JobConfig, claimable
from weft.frontier import Frontier


class CrawlLimits:
    """By host key. What is said of a host beside the settings takes the place of what they say of
    all hosts, but never of what they say of this one (DOWNLOAD_SLOTS): there the stricter holds."""

    def __init__(self, config: JobConfig, frontier: Frontier) -> None:
        self._config = config
        self._frontier = frontier
        self._own: dict[str, HostLimits] = {}

    def of(self, host: str) -> HostLimits:
        return self._own.get(host) or self._config.limits_of(host)

    def concurrency_of(self, host: str) -> int:
        return self.of(host).concurrency

    @property
    def of_all(self) -> HostLimits:
        return self._config.limits

    def put(self, limits: Mapping[str, HostLimits]) -> None:
        """Limit these hosts beside the settings, and no others any longer."""
        own = {host: self._with_settings(host, each) for host, each in limits.items()}
        before, self._own = self._own, own
        changed = {host for host in before.keys() | own if before.get(host) != own.get(host)}
        if changed:
            self._frontier.limit_hosts({host: self._claimable(host) for host in changed})

    def _with_settings(self, host: str, limits: HostLimits) -> HostLimits:
        set_own = self._config.limits_by_host.get(host)
        return limits.strictest(set_own) if set_own else limits

    def _claimable(self, host: str) -> HostLimits | None:
        """None: as the frontier does it with all hosts."""
        if host not in self._own and host not in self._config.limits_by_host:
            return None
        return claimable(self.of(host), self._config.frontier.workers_per_host)

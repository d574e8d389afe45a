"""The side of the tests."""

import json
from collections.abc import Sequence

from weft.testing.hostile.site import KINDS, Hostile
from weft.testing.site.server import ServerProcess


class HostileServer(ServerProcess):
    """A site that does everything wrong, and good pages that must all arrive exactly once.

    `kinds` are the kinds of pages that its first host links to. Each of the other hosts is wrong in
    its own way, by group: see `weft.testing.hostile.site`.
    """

    def __init__(
        self,
        kinds: Sequence[str] = tuple(KINDS),
        groups: Sequence[str] = ("robots", "busy"),
        *,
        port: int = 0,
    ) -> None:
        self.site = Hostile(tuple(kinds), tuple(groups))
        options = json.dumps([*map(list, (kinds, groups))])
        super().__init__("weft.testing.hostile", options, self.site.hosts, port)

    @property
    def urls(self) -> list[str]:
        """Where a crawl starts: one URL per host."""
        return [self.url_of(host) for host in self.site.hosts]

    def good_urls(self) -> set[str]:
        """What must be there once in the end, whatever else happens."""
        return {
            self.url_of(host, path)
            for host in self.site.hosts
            for path in self.site.good_paths(host)
        }

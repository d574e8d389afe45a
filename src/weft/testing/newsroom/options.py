"""What is served where, as one value that is sent to the process as JSON."""

from itertools import count, repeat
from typing import NamedTuple, Self

import msgspec

from weft.demo.newsroom.papers import BY_NAME, LAST_EDITION
from weft.errors import ConfigError

#: Where each paper is served, unless all are on the first.
HOSTS = {"courier": "127.0.0.1", "evening": "127.0.0.2", "digest": "127.0.0.3"}


class NewsroomOptions(NamedTuple):
    edition: int = 0
    papers: tuple[str, ...] = tuple(HOSTS)
    #: Time before an answer is sent.
    latency_s: float = 0.0
    #: All papers are on the first host, each on a port of its own: a Mac has no other.
    by_port: bool = False

    def check(self) -> Self:
        """Itself; raises ConfigError if it cannot be served."""
        if not 0 <= self.edition <= LAST_EDITION:
            raise ConfigError(f"edition {self.edition} must be 0 to {LAST_EDITION}")
        if not self.papers or set(self.papers) - BY_NAME.keys():
            raise ConfigError(f"papers must be some of {', '.join(BY_NAME)}")
        if self.latency_s < 0:
            raise ConfigError("latency_s must not be negative")
        return self

    @property
    def hosts(self) -> tuple[str, ...]:
        """For each paper; see `listen` for one that is named again."""
        first, *_ = HOSTS.values()
        return tuple(first if self.by_port else HOSTS[name] for name in self.papers)

    def addresses(self, port: int) -> dict[str, tuple[str, int]]:
        """Host and port of each paper. `port`: that of the first."""
        ports = count(port) if self.by_port else repeat(port)
        return dict(zip(self.papers, zip(self.hosts, ports, strict=False), strict=True))

    def bases(self, port: int) -> dict[str, str]:
        return {name: f"http://{host}:{at}" for name, (host, at) in self.addresses(port).items()}

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        return msgspec.json.decode(text, type=cls)

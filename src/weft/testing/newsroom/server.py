"""The side of the tests."""

from collections.abc import Sequence

from weft.demo.newsroom.site import Newsroom
from weft.testing.newsroom.options import HOSTS, NewsroomOptions
from weft.testing.newsroom.process import switch
from weft.testing.site.server import ServerProcess


class NewsroomServer(ServerProcess):
    """The papers, served while the context is open; `hits()` and `forget()` are about requests."""

    def __init__(
        self,
        edition: int = 0,
        *,
        papers: Sequence[str] = tuple(HOSTS),
        latency_s: float = 0.0,
        port: int = 0,
        by_port: bool = False,
    ) -> None:
        self._served = NewsroomOptions(edition, tuple(papers), latency_s, by_port).check()
        super().__init__("weft.testing.newsroom", self._served.to_json(), self._served.hosts, port)

    @property
    def newsroom(self) -> Newsroom:
        """The same site without a network: what is right about it now."""
        return Newsroom(self._served.bases(self.port), self._served.edition)

    @property
    def entries(self) -> list[str]:
        """The home pages."""
        return [f"{base}/" for base in self._served.bases(self.port).values()]

    def publish(self, edition: int) -> None:
        """Go on to this edition, with its new articles."""
        self._served = self._served._replace(edition=edition).check()
        self._control(switch("publish", edition=edition))

    def fail(self, paper: str, path: str, status: int = 503) -> None:
        """Answer with this status for a path with its query, until `mend`."""
        self._control(switch("fail", paper=paper, path=path, status=status))

    def go_down(self, paper: str) -> None:
        """Close all connections to a paper without an answer (status 0 in `hits`), until `mend`."""
        self._control(switch("down", paper=paper))

    def mend(self) -> None:
        """End all failures."""
        self._control(switch("mend"))

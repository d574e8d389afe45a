"""The serving process: three papers, and switches for what goes wrong."""

import asyncio
import time
from functools import partial
from urllib.parse import parse_qsl, urlencode

from weft.demo.newsroom.issue import Served
from weft.demo.newsroom.site import Newsroom
from weft.testing.newsroom.options import NewsroomOptions
from weft.testing.site.hits import Hit, HitLog
from weft.testing.site.holdups import Holdups
from weft.testing.site.process import (
    FLUSH_PATH,
    FORGET_PATH,
    Address,
    MakeConnection,
    SiteConnection,
)
from weft.testing.site.wire import Request, SiteAnswer, answer, text_answer, without_body

#: The server's own paths, not logged; `switch` writes them.
_CONTROL = "/_weft/"
#: The connection is closed, and nothing is said.
_SILENCE = SiteAnswer(0, b"", is_broken=True)
#: What the site asks its clients.
_CONDITIONS = ("if-none-match", "if-modified-since")


def switch(verb: str, **values: str | int) -> str:
    """The path that tells the process to do something."""
    return f"{_CONTROL}{verb}?{urlencode(values)}"


class NewsroomService:
    """What all connections share."""

    def __init__(self, options: NewsroomOptions, port: int, log: HitLog | None) -> None:
        self._newsroom = Newsroom(options.bases(port), options.edition)
        self._papers = {address: name for name, address in options.addresses(port).items()}
        self._latency_s = options.latency_s
        self._log = log
        self._holdups = Holdups(asyncio.get_running_loop())
        #: The status that a path of a paper answers with.
        self._failing: dict[tuple[str, str], int] = {}
        self._down: set[str] = set()

    def answer(self, asked: Address, client: str, request: Request) -> SiteAnswer:
        if request.path.startswith(_CONTROL):
            return self._control(request)
        found = self._answer(self._papers[asked], request)
        if self._log:
            self._log.add(
                Hit(
                    time.monotonic(),
                    asked[0],
                    request.method,
                    request.target,
                    found.status,
                    client,
                    self._holdups.held_up_s(),
                )
            )
        return found._replace(delay_s=self._latency_s)

    def _answer(self, paper: str, request: Request) -> SiteAnswer:
        if paper in self._down:
            return _SILENCE
        status = self._failing.get((paper, request.target))
        if status is not None:
            return text_answer(status, "Try again later\n")
        headers = {name: value for name in _CONDITIONS if (value := request.header(name))}
        found = _on_the_wire(self._newsroom.serve(paper, request.target, headers))
        return without_body(found) if request.method == "HEAD" else found

    def _control(self, request: Request) -> SiteAnswer:
        values = dict(parse_qsl(request.query))
        match request.path.removeprefix(_CONTROL):
            case "publish":
                self._newsroom.edition = int(values["edition"])
            case "fail":
                self._failing[values["paper"], values["path"]] = int(values["status"])
            case "down":
                self._down.add(values["paper"])
            case "mend":
                self._failing.clear()
                self._down.clear()
        if self._log and request.path == FLUSH_PATH:
            self._log.flush()
        if self._log and request.path == FORGET_PATH:
            self._log.clear()
        return text_answer(200, "done\n")


def _on_the_wire(served: Served) -> SiteAnswer:
    lines = "".join(f"{name}: {value}\r\n" for name, value in served.headers)
    if served.status == 304:  # it has no body, and so no length
        head = f"HTTP/1.1 304 Not Modified\r\nServer: weft-site\r\n{lines}\r\n"
        return SiteAnswer(304, head.encode("latin-1"))
    if served.location:
        lines += f"Location: {served.location}\r\n"
    return answer(served.status, served.body, served.content_type, lines)


def connections_of(options: NewsroomOptions) -> MakeConnection:
    return lambda port, log: partial(SiteConnection, NewsroomService(options, port, log))

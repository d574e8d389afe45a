"""A request that is to be sent."""

from typing import NamedTuple

from scrapy import Request

from weft.engine.http.origin import Origin


class Route(NamedTuple):
    """Where to and where from: requests of one route can share a connection."""

    origin: Origin
    #: Address and port to send from; None: any.
    local: tuple[str, int] | None


class Order(NamedTuple):
    request: Request
    route: Route
    #: What is written.
    data: bytes
    timeout_s: float
    #: On the clock of the event loop.
    until_s: float
    #: How many cuts there were when it began: after another one it is not sent.
    cuts: int

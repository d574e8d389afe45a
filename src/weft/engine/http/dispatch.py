"""A request to be sent."""

from typing import NamedTuple

from scrapy import Request

from weft.engine.http.origin import Origin


class Route(NamedTuple):
    """Destination and source: requests with the same route can share a connection."""

    origin: Origin
    #: Address and port to send from; None: any.
    local: tuple[str, int] | None


class Dispatch(NamedTuple):
    request: Request
    route: Route
    #: The bytes to write.
    data: bytes
    timeout_s: float
    #: The deadline, on the clock of the event loop.
    until_s: float
    #: The number of cuts when it started: after another one it is not sent.
    cuts: int

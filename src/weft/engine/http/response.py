"""Makes the response for Scrapy: the same one that its own handler would make, at less cost."""

from functools import lru_cache

from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from weft.engine.http.arrival import Arrival
from weft.engine.http.connection import Connection

#: Values of Content-Type to cache.
MAX_TYPES = 1_000


def make_response(arrival: Arrival, connection: Connection) -> Response:
    """Raises StopDownload if a signal handler raised it with `fail` set."""
    answer = arrival.answer
    headers = answer.headers()
    url = arrival.request.url.partition("#")[0]
    body = bytes(answer.body[0]) if len(answer.body) == 1 else b"".join(answer.body)
    response = class_of(headers, url, body)(
        url=url,
        status=answer.status,
        body=body,
        flags=arrival.flags,
        certificate=connection.certificate,
        ip_address=connection.ip_address,
        protocol=f"HTTP/{answer.version}",
    )
    # Not as an argument: they would be copied, name by name.
    response.headers = headers
    return response if arrival.stop is None else _stopped(response, arrival.stop)


def class_of(headers: Headers, url: str, body: bytes) -> type[Response]:
    """Like `responsetypes.from_args`, but cached for most pages."""
    content_type = dict.get(headers, b"Content-Type")
    if content_type and b"Content-Encoding" not in dict.keys(headers):
        found = _class_of_type(content_type[-1])
        if found is not Response:  # else Scrapy looks further
            return found
    return responsetypes.from_args(headers=headers, url=url, body=body)


@lru_cache(MAX_TYPES)
def _class_of_type(content_type: bytes) -> type[Response]:
    return responsetypes.from_content_type(content_type)


def _stopped(response: Response, stop: StopDownload) -> Response:
    response.flags.append("download_stopped")
    if stop.fail:
        stop.response = response
        raise stop
    return response

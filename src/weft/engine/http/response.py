"""The response that Scrapy gets: the same one that its own handler would make, for less."""

from functools import lru_cache

from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from weft.engine.http.connection import Connection
from weft.engine.http.exchange import Exchange

#: Values of Content-Type to remember.
MAX_TYPES = 1_000


def make_response(exchange: Exchange, connection: Connection) -> Response:
    """Raises StopDownload where a signal handler did, and wants it so."""
    answer = exchange.answer
    headers = answer.headers()
    url = exchange.request.url.partition("#")[0]
    body = bytes(answer.body[0]) if len(answer.body) == 1 else b"".join(answer.body)
    response = class_of(headers, url, body)(
        url=url,
        status=answer.status,
        body=body,
        flags=exchange.flags,
        certificate=connection.certificate,
        ip_address=connection.ip_address,
        protocol=f"HTTP/{answer.version}",
    )
    # Not as an argument: that would be copied, name by name.
    response.headers = headers
    return response if exchange.stop is None else _stopped(response, exchange.stop)


def class_of(headers: Headers, url: str, body: bytes) -> type[Response]:
    """As `responsetypes.from_args`, which need not be asked again for most pages."""
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

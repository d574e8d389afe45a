"""Where a request goes: requests with the same origin can share a connection."""

import re
from functools import lru_cache
from typing import NamedTuple

#: Origins to cache; a crawl needs the same ones again and again.
MAX_ORIGINS = 10_000

_PORTS = {"http": 80, "https": 443}
# No user name, empty port or anything else that servers could understand in several ways.
_NETLOC = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")


class Origin(NamedTuple):
    is_tls: bool
    #: A name or an address, without brackets.
    host: str
    port: int
    #: What the Host header says.
    netloc: bytes


@lru_cache(MAX_ORIGINS)
def origin_of(scheme: str, netloc: str) -> Origin | None:
    """Returns None if we are not sure about it."""
    match = _NETLOC.fullmatch(netloc)
    default_port = _PORTS.get(scheme)
    if match is None or default_port is None:
        return None
    port = int(match["port"] or default_port)
    if not 0 < port < 65536:
        return None
    host = match["host"]
    shown = host if port == default_port else f"{host}:{port}"
    return Origin(scheme == "https", host.strip("[]"), port, shown.encode())

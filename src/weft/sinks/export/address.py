"""Addresses of servers that files are put on: `scheme://user:password@host:port/path?options`."""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from weft.errors import ConfigError
from weft.urls import without_password


class Address(NamedTuple):
    user: str
    password: str
    host: str
    #: 0: the usual one.
    port: int
    #: Without slashes at its ends, but for one that says that it is a directory.
    path: str
    options: Mapping[str, str]


def read_address(text: str, options: Collection[str] = ()) -> Address:
    """Raises ConfigError for what is no address, or has options that are not among `options`."""
    parts = urlsplit(text)
    if "@" in parts.path and "@" not in parts.netloc:
        raise ConfigError(  # and show nothing of it: it is half a password
            f"the {parts.scheme}:// address has a / or ? or # before its @: write %2F, %3F or %23"
        )
    account, _, place = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    host, port = _host_and_port(place, text)
    path = unquote(parts.path).lstrip("/")
    if any(each < " " or each == "\x7f" for each in path):
        raise ConfigError(f"{without_password(text)!r} has control characters in its path")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.fragment or not set(given) <= set(options):
        known = f"only {' and '.join(f'?{name}=' for name in options)}" if options else "none"
        raise ConfigError(
            f"{without_password(text)!r} has options that nobody knows ({known} can be there); "
            "write ? as %3F and # as %23 where they are part of a name"
        )
    return Address(unquote(user), unquote(password), host, port, path, given)


def _host_and_port(place: str, text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{place}")
    try:
        host, port = parts.hostname or "", parts.port or 0
    except ValueError as problem:
        raise ConfigError(f"{without_password(text)!r} is no address: {problem}") from problem
    if not host:
        raise ConfigError(f"{without_password(text)!r} names no host")
    return host, port

"""Addresses of servers that files are uploaded to: `scheme://user:password@host:port/path?options`."""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from weft.errors import ConfigError
from weft.urls import without_password


class ExportAddress(NamedTuple):
    user: str
    password: str
    host: str
    #: 0: the default port.
    port: int
    #: Without leading or trailing slashes, except one at the end that marks a directory.
    path: str
    options: Mapping[str, str]


def read_address(text: str, options: Collection[str] = ()) -> ExportAddress:
    """Raises ConfigError for an invalid address or for options that are not in `options`."""
    url = urlsplit(text)
    if "@" in url.path and "@" not in url.netloc:
        raise ConfigError(  # shows none of it: it may contain half a password
            f"the {url.scheme}:// address has a /, ? or # before its @: write %2F, %3F or %23"
        )
    account, _, server = url.netloc.rpartition("@")
    user, _, password = account.partition(":")
    host, port = _host_and_port(server, text)
    path = unquote(url.path).lstrip("/")
    if any(each < " " or each == "\x7f" for each in path):
        raise ConfigError(f"{without_password(text)!r} has control characters in its path")
    given = dict(parse_qsl(url.query, keep_blank_values=True))
    if url.fragment or not set(given) <= set(options):
        known = f"only {' and '.join(f'?{name}=' for name in options)}" if options else "none"
        raise ConfigError(
            f"{without_password(text)!r} has unknown options ({known} can be given); "
            "write ? as %3F and # as %23 where they are part of a name"
        )
    return ExportAddress(unquote(user), unquote(password), host, port, path, given)


def _host_and_port(server: str, text: str) -> tuple[str, int]:
    url = urlsplit(f"//{server}")
    try:
        host, port = url.hostname or "", url.port or 0
    except ValueError as problem:
        raise ConfigError(
            f"{without_password(text)!r} is not a valid address: {problem}"
        ) from problem
    if not host:
        raise ConfigError(f"{without_password(text)!r} does not name a host")
    return host, port

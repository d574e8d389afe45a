"""What a site server serves, as one value that is sent to its process as JSON."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from ipaddress import AddressValueError, IPv4Address
from typing import Literal

from weft.errors import ConfigError

Theme = Literal["numbers", "demo"]


@dataclass(frozen=True, kw_only=True)
class Site:
    """What is served. The same options give the same bytes, whatever the port.

    Page 0 is at `/`, page i at `/p/<i>.html`. Links are path-absolute or relative, some with a
    fragment; only cross links and the site map name host and port. "Every n-th page" is page n,
    2n, 3n …, never page 0; 0 means none. The demo theme has its own pages and ignores `pages`,
    `links`, `size_bytes`, `cross_links` and the `*_every` options.

    On every host, in every theme, there are also:

    ======================  ====================================================================
    `/r/<i>`                302 to page i (numbers theme)
    `/missing/<anything>`   404
    `/status/<code>`        that status, 200 to 599; redirects lead to `/`
    `/slow/<seconds>`       200 after that time
    `/redirect-loop`        302 to itself
    `/redirect-to?url=…`    302 to that URL
    `/broken/close`         a chunked body, closed in the middle
    `/broken/length`        Content-Length larger than the body, then closed
    `/broken/header`        garbage instead of HTTP
    `/broken/charset`       declares utf-8, is invalid utf-8
    `/trap/<anything>`      links to ten deeper pages, endlessly
    `/bomb`                 a gzip body of 50 KB that inflates to 50 MB
    `/long-link`            links to a URL of 100 KB, `/long/aaa…`, which answers 414
    `/login`                a form (user, password, hidden csrf); POST as weft/secret sets the
                            session cookie and leads to `/members/`
    `/members/[<n>]`        n < 5; without the cookie 302 to `/login`
    `/sitemap.xml`          all pages of this host
    `/echo`                 method, path, headers and body of the request as JSON
    ======================  ====================================================================
    """

    #: Pages on each host.
    pages: int = 100
    #: Links per page: i*links+1 … i*links+links, so that page 0 leads to all; the rest at random.
    links: int = 10
    #: Approximate size of a page's body.
    size_bytes: int = 1_000
    #: Addresses 127.x.y.z, or private ones of this machine, all on one port; each has its own pages
    #: at the same paths.
    hosts: tuple[str, ...] = ("127.0.0.1",)
    #: Page 0 of each host also links to page 0 of every other host.
    cross_links: bool = False
    #: Time before an answer is sent: for all hosts, or by host.
    latency_s: float | Mapping[str, float] = 0.0
    #: Every n-th page is linked to through `/r/<i>`.
    redirects_every: int = 0
    #: Every n-th page also links to `/missing/<i>`.
    missing_every: int = 0
    #: Every n-th page answers 500 to its first request.
    flaky_every: int = 0
    #: Every n-th page answers 429 with `Retry-After: 1` to its first request, after any 500.
    busy_every: int = 0
    #: Text of `/robots.txt`; empty: 404.
    robots: str = ""
    #: The encoding of pages, which they declare.
    charset: str = "utf-8"
    #: Bodies are compressed for clients that accept it.
    gzip: bool = False
    #: Whether requests are logged for `SiteServer.hits()`; benchmarks turn it off.
    log: bool = True
    #: Numbered pages, or the bundled news and book-shop site.
    theme: Theme = "numbers"

    def __post_init__(self) -> None:
        problems = [*_number_problems(self), *_host_problems(self), *_text_problems(self)]
        if problems:
            raise ConfigError("; ".join(problems))

    def latency_of(self, host: str) -> float:
        if isinstance(self.latency_s, Mapping):
            return self.latency_s.get(host, 0.0)
        return self.latency_s

    def to_json(self) -> str:
        latency = self.latency_s
        # asdict makes deep copies, which not every mapping supports.
        plain = replace(self, latency_s=dict(latency) if isinstance(latency, Mapping) else latency)
        return json.dumps(asdict(plain))

    @classmethod
    def from_json(cls, text: str) -> "Site":
        options = json.loads(text)
        return cls(**options | {"hosts": tuple(options["hosts"])})


def _number_problems(site: Site) -> Iterator[str]:
    for name in ("pages", "links"):
        if getattr(site, name) < 1:
            yield f"{name} must be at least 1"
    for name in ("size_bytes", "redirects_every", "missing_every", "flaky_every", "busy_every"):
        if getattr(site, name) < 0:
            yield f"{name} must not be negative"
    latency = site.latency_s
    if any(s < 0 for s in (latency.values() if isinstance(latency, Mapping) else [latency])):
        yield "latency_s must not be negative"


def _host_problems(site: Site) -> Iterator[str]:
    if not site.hosts or len(set(site.hosts)) < len(site.hosts):
        yield "hosts must be one or more different addresses"
    for host in site.hosts:
        if not _is_private(host):
            yield f"host {host!r} must be a loopback or private address such as 127.0.0.2"
    if isinstance(site.latency_s, Mapping):
        for host in site.latency_s.keys() - set(site.hosts):
            yield f"latency_s names {host!r}, which is not one of the hosts"


def _is_private(host: str) -> bool:
    try:
        # Loopback is private. Nothing that strangers could reach is allowed, such as 0.0.0.0.
        return IPv4Address(host).is_private and not IPv4Address(host).is_unspecified
    except AddressValueError:
        return False


def _text_problems(site: Site) -> Iterator[str]:
    try:
        "a".encode(site.charset)
    except LookupError:
        yield f"charset {site.charset!r} is unknown"
    if site.theme not in ("numbers", "demo"):
        yield f"theme {site.theme!r} must be numbers or demo"

"""Which host has which answer at which path.

The first host has all pages that are bad in themselves, by kind, with good ones among them. Each of
the others has a bad robots.txt or Retry-After, and good pages.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from types import ModuleType

from weft.testing.hostile import (
    addresses,
    charsets,
    cookies,
    framing,
    lies,
    manners,
    markup,
    packing,
    redirects,
)
from weft.testing.hostile.answers import HostileAnswer, Pages, html, links, whole

KINDS: Mapping[str, ModuleType] = {
    "framing": framing,
    "packing": packing,
    "redirects": redirects,
    "cookies": cookies,
    "charsets": charsets,
    "markup": markup,
    "addresses": addresses,
    "lies": lies,
}
#: Hosts by what is wrong with them: their `/robots.txt`, or their first answer at `/busy`.
GROUPS: Mapping[str, Mapping[str, HostileAnswer]] = {
    "robots": manners.ROBOTS,
    "busy": manners.BUSY,
    "patience": manners.PATIENCE,
    "busy-patience": manners.BUSY_PATIENCE,
}
#: Good pages of the first host, besides one for each compression; and of each other host.
GOOD = 60
GOOD_OF_OTHERS = 2

MAIN = "127.0.0.1"


#: It first fails, and then redirects to a good page, which must not arrive twice.
MOVED_LATE = "/moved-late"


def _moved_late(*, is_first: bool) -> HostileAnswer:
    if is_first:
        return whole("", status="500 Not Now")
    return whole("", "text/html", "Location: /good/0", status="302 Found")


def not_found() -> HostileAnswer:
    return whole(html("Not found"), status="404 Not Found")


class Hostile:
    """`kinds` and `groups` are those that are linked to; all exist."""

    def __init__(self, kinds: tuple[str, ...], groups: tuple[str, ...]) -> None:
        self.kinds = kinds
        self.groups = groups
        #: The addresses of the other hosts, by group and name.
        self.others: dict[tuple[str, str], str] = {}
        names = chain.from_iterable(((group, name) for name in GROUPS[group]) for group in groups)
        for number, name in enumerate(names, start=2):
            self.others[name] = f"127.0.0.{number}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return MAIN, *self.others.values()

    def good_paths(self, host: str) -> list[str]:
        if host != MAIN:
            return ["/", *(f"/good/{number}" for number in range(GOOD_OF_OTHERS))]
        packed = (f"/good/{coding}" for coding in packing.PACKERS)
        return ["/", *(f"/good/{number}" for number in range(GOOD)), *packed]

    # One host

    @cached_property
    def _pages(self) -> Mapping[str, Pages]:
        return {kind: KINDS[kind].pages() for kind in self.kinds}

    @cached_property
    def _names(self) -> Mapping[str, tuple[str, str]]:
        return {address: name for name, address in self.others.items()}

    def answer(self, host: str, port: int, path: str, *, is_first: bool) -> HostileAnswer:
        """`is_first`: this path of this host was not requested before."""
        if path in self.good_paths(host):
            return self._good(host, path)
        if path == MOVED_LATE:
            return _moved_late(is_first=is_first)
        if host == MAIN:
            return self._bad(path, f"{host}:{port}") or not_found()
        group, name = self._names[host]
        if path == "/robots.txt" and group in ("robots", "patience"):
            return GROUPS[group][name]
        if path == "/busy" and group in ("busy", "busy-patience"):
            return GROUPS[group][name] if is_first else whole(html("Not busy any more"))
        return not_found()

    def _good(self, host: str, path: str) -> HostileAnswer:
        coding = path.rpartition("/")[2]
        page = html(f"Good {host} {path}", links(*self._links_of(host, path)))
        if coding in packing.PACKERS:
            packed = packing.PACKERS[coding](page.encode())
            return whole(packed, "text/html; charset=utf-8", f"Content-Encoding: {coding}")
        return whole(page)

    def _links_of(self, host: str, path: str) -> list[str]:
        if path != "/":
            return ["/"]
        first_good = self.good_paths(host)[1 : 1 + (GOOD // 2 if self.kinds else GOOD)]
        if host == MAIN:
            codings = [f"/good/{coding}" for coding in packing.PACKERS]
            return [*first_good, *codings, MOVED_LATE, *(f"/index/{kind}" for kind in self.kinds)]
        return [*first_good, *(["/busy"] if self._names[host][0].startswith("busy") else [])]

    def _bad(self, path: str, site: str) -> HostileAnswer | None:
        kind, _, name = path[1:].partition("/")
        if kind == "index" and name in self._pages:
            return whole(self._index(name, site))
        if kind == "addresses":
            return addresses.page(name)
        return self._pages.get(kind, {}).get(name)

    def _index(self, kind: str, site: str) -> str:
        """Puts good pages that the first page does not link to between the bad ones."""
        numbers = range(GOOD // 2 + self.kinds.index(kind), GOOD, len(self.kinds))
        good = [f"/good/{number}" for number in numbers]
        bad = [f"/{kind}/{name}" for name in self._pages[kind]]
        step = max(1, len(bad) // (len(good) + 1))
        for number, path in enumerate(good, start=1):
            bad.insert(number * step, path)
        more = addresses.index(site) if kind == "addresses" else ""
        return html(f"Index of {kind}", links(*bad) + more)

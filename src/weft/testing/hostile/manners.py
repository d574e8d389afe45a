"""Hosts whose robots.txt or Retry-After asks for nonsense; each has good pages too."""

from collections.abc import Callable

from weft.testing.hostile.answers import HostileAnswer, made, raw, stream, whole
from weft.testing.hostile.packing import bomb

_ALL = "User-agent: *\n"


def _robots(text: str | bytes) -> HostileAnswer:
    return whole(text, "text/plain")


def _made(make: Callable[[], bytes]) -> HostileAnswer:
    return made(make, "text/plain")


def _rules() -> bytes:
    return _ALL.encode() + b"".join(b"Disallow: /%d*x$\n" % number for number in range(200_000))


def _agents() -> bytes:
    agents = b"".join(b"User-agent: a%d\n" % number for number in range(5_000))
    return agents + b"".join(b"Disallow: /%d\n" % number for number in range(5_000))


#: By host name. None of them disallows anything in a valid way.
ROBOTS: dict[str, HostileAnswer] = {
    "negative-delay": _robots(_ALL + "Crawl-delay: -5\n"),
    "delay-nan": _robots(_ALL + "Crawl-delay: nan\n"),
    "delay-infinite": _robots(_ALL + "Crawl-delay: inf\n"),
    "delay-beyond": _robots(_ALL + "Crawl-delay: 1e400\n"),
    "delay-junk": _robots(_ALL + "Crawl-delay: soon\nCrawl-delay: 0x10\nCrawl-delay:\n"),
    "delay-tiny": _robots(_ALL + "Crawl-delay: 1e-300\n"),
    "rate-junk": _robots(_ALL + "Request-rate: 0/0\nVisit-time: 9999-0\nHost: [::1\n"),
    "rules": _made(_rules),
    "agents": _made(_agents),
    "wildcards": _robots(_ALL + f"Disallow: /{'*a' * 5_000}b\nAllow: /{'*' * 5_000}$\n"),
    "large": _made(lambda: b"x" * 20_000_000),
    "lines": _made(lambda: b"\n" * 5_000_000),
    "binary": _robots(bytes(range(256)) * 1_000),
    "nul": _robots(b"\0" * 100_000),
    "utf-16": _robots((_ALL + "Crawl-delay: 0\n").encode("utf-16")),
    "page": whole("<!DOCTYPE html><title>Welcome</title>" + "<p>x" * 10_000),
    "packed": made(
        lambda: bomb("gzip", 100, b"Disallow: /x\n" * 70_000),
        "text/plain",
        "Content-Encoding: gzip",
    ),
    "not-packed": whole(_ALL, "text/plain", "Content-Encoding: br"),
    "loop": raw(
        b"HTTP/1.1 302 Found\r\nLocation: /robots.txt\r\nContent-Length: 0\r\n\r\n", then="keep"
    ),
    "elsewhere": raw(
        b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n", then="keep"
    ),
    "file": raw(
        b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
        then="keep",
    ),
    "failing": whole("", status="500 No"),
    "gone": whole("", status="410 Gone"),
    "teapot": whole("", status="418 No"),
    "no-http": raw(b"junk"),
    "closed": raw(),
    "silent": raw(then="hang"),
    "drip": raw(*[b"x"] * 400, then="hang", pause_s=0.2),
    "endless": stream(lambda: iter(lambda: b"Disallow: /x\n" * 1_000, b"")),
    "charset": whole(_ALL, "text/plain; charset=base64"),
}

#: Hosts that ask for more patience than a crawl has: it only ends at its limit.
PATIENCE: dict[str, HostileAnswer] = {
    "delay": _robots(_ALL + "Crawl-delay: 99999999\n"),
    "delay-huge": _robots(_ALL + "Crawl-delay: 1e300\n"),
}


def _busy(value: str, status: str = "429 Slow down") -> HostileAnswer:
    return whole("", "text/plain", f"Retry-After: {value}", status=status)


#: The first answer of a host's page `/busy`; it asks for nothing, or for nonsense.
BUSY: dict[str, HostileAnswer] = {
    "negative": _busy("-99999999"),
    "zero": _busy("0"),
    "junk": _busy("soon", "503 Busy"),
    "empty": _busy(""),
    "past": _busy("Thu, 01 Jan 1970 00:00:00 GMT"),
    "no-date": _busy("Thu, 99 Foo 99999 99:99:99 GMT", "503 Busy"),
    "float": _busy("1e400"),
    "arabic": _busy("\xd9\xa1"),
    "long": _busy("x" * 50_000),
}
BUSY_PATIENCE: dict[str, HostileAnswer] = {
    "huge": _busy("99999999999999999999"),
    "digits": _busy("9" * 5_000, "503 Busy"),
    "far": _busy("Fri, 31 Dec 9999 23:59:59 GMT"),
}

"""Far too many cookies, and cookies that no browser would accept."""

from weft.testing.hostile.answers import HostileAnswer, Pages, html, raw

_COOKIES = {
    "hundreds": [b"c%d=%d" % (number, number) for number in range(900)],
    "large": [b"large=" + b"x" * 100_000],
    "many-large": [b"large%d=%b" % (number, b"x" * 4_000) for number in range(50)],
    "empty": [b""],
    "no-name": [b"=value"],
    "no-value": [b"name"],
    "equals": [b"=" * 10_000],
    "semicolons": [b";" * 10_000],
    "spaces": [b"a=" + b" " * 50_000 + b"b"],
    "quotes": [b'a="' + b"x" * 5_000],
    "backslashes": [b'a="' + b"\\" * 10_000 + b'"'],
    "nul": [b"a\x00=b\x00"],
    "binary": [bytes(range(128, 256)) + b"=" + bytes(range(128, 256))],
    "year-99999": [b"a=b; Expires=Thu, 01 Jan 99999 00:00:00 GMT"],
    "year-0": [b"a=b; Expires=Thu, 01 Jan 0000 00:00:00 GMT"],
    "negative-year": [b"a=b; Expires=Thu, 01 Jan -2000 00:00:00 GMT"],
    "no-such-day": [b"a=b; Expires=Thu, 99 Foo 2020 99:99:99 GMT"],
    "long-date": [b"a=b; Expires=" + b"9" * 20_000],
    "date-digits": [b"a=b; Expires=" + b"1-" * 5_000],
    "max-age-huge": [b"a=b; Max-Age=" + b"9" * 400],
    "max-age-negative": [b"a=b; Max-Age=-99999999999999"],
    "max-age-junk": [b"a=b; Max-Age=soon"],
    "domain-dots": [b"a=b; Domain=...."],
    "domain-com": [b"a=b; Domain=com"],
    "domain-other": [b"a=b; Domain=example.org"],
    "domain-binary": [b"a=b; Domain=\xff\xfe"],
    "domain-long": [b"a=b; Domain=" + b"a." * 5_000],
    "domain-ipv6": [b"a=b; Domain=[::1"],
    "path-junk": [b"a=b; Path=\\..\\%zz"],
    "attributes": [b"a=b" + b"; x=y" * 5_000],
    "port": [b'a=b; Version=1; Port="99999,-1,x"'],
    "version": [b"a=b; Version=junk"],
    "two-in-one": [b"a=b, c=d, e=f; Expires=Thu, 01 Jan 2099 00:00:00 GMT, g=h"],
}


def _with(cookies: list[bytes]) -> HostileAnswer:
    body = html("Cookies").encode()
    lines = b"".join(b"Set-Cookie: %b\r\n" % cookie for cookie in cookies)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n" % len(body)
    return raw(head + lines + b"\r\n" + body, then="keep")


def pages() -> Pages:
    return {name: _with(cookies) for name, cookies in _COOKIES.items()}

"""Redirects that lead nowhere, by status, by header and by meta tag."""

from html import escape

from weft.testing.hostile.answers import HostileAnswer, Pages, html, raw, whole

LOCATIONS = {
    "empty": b"",
    "space": b" ",
    "scheme-only": b"http://",
    "no-host": b"http:///x",
    "slashes": b"//",
    "three-slashes": b"///",
    "many-slashes": b"/" * 5_000,
    "ipv6-open": b"http://[::1",
    "ipv6-junk": b"http://[junk]/",
    "ipv6-zone": b"http://[fe80::1%25eth0]/",
    "ipv6-relative": b"//[::1/x",
    "bracket": b"http://]/",
    "port-large": b"http://127.0.0.1:99999/",
    "port-negative": b"http://127.0.0.1:-1/",
    "port-zero": b"http://127.0.0.1:0/",
    "port-letters": b"http://127.0.0.1:abc/",
    "port-empty": b"http://127.0.0.1:/redirects/nowhere",
    "port-closed": b"http://127.0.0.1:9/",
    "port-two": b"http://127.0.0.1:80:80/",
    "percent-host": b"http://%zz/",
    "percent-nul-host": b"http://%00/",
    "dots-host": b"http://a..b/",
    "dot-host": b"http://./",
    "long-label": b"http://" + b"a" * 300 + b"/",
    "long-host": b"http://" + b"a." * 5_000 + b"b/",
    "space-host": b"http://a b/",
    "bad-idna": b"http://xn--\xff/",
    "bad-punycode": b"http://xn--a-\xc3\xa4/",
    "number-host": b"http://99999999999/",
    "octal-host": b"http://0177.1/",
    "user": b"http://user:secret@127.0.0.1:9/",
    "user-junk": b"http://@@@:::/",
    "javascript": b"javascript:alert(1)",
    "data": b"data:text/html,<a href=x>x</a>",
    "file": b"file:///etc/passwd",
    "file-host": b"file://127.0.0.1/etc/passwd",
    "ftp": b"ftp://127.0.0.1/x",
    "mailto": b"mailto:a@example.org",
    "about": b"about:blank",
    "blob": b"blob:http://127.0.0.1/x",
    "gopher": b"gopher://127.0.0.1:70/x",
    "s3": b"s3://bucket/key",
    "websocket": b"ws://127.0.0.1/x",
    "view-source": b"view-source:http://127.0.0.1/",
    "upper-scheme": b"JAVASCRIPT:alert(1)",
    "no-scheme": b"://x",
    "colon": b":",
    "query": b"?",
    "fragment": b"#",
    "backslashes": b"http:\\\\127.0.0.1\\x",
    "one-slash": b"http:/redirects/nowhere",
    "utf-8": "/redirects/häßlich-✓".encode(),
    "latin-1": b"/redirects/h\xe4\xdflich",
    "utf-8-host": "http://häß.invalid/".encode(),
    "latin-1-host": b"http://h\xe4\xdf.invalid/",
    "binary": bytes(range(128, 256)),
    "control": b"/redirects/a\x01\x02\x7fb",
    "tab": b"/redirects/a\tb",
    "nul": b"/redirects/a\x00b",
    "bad-percent": b"/redirects/%zz%",
    "long": b"/redirects/" + b"x" * 100_000,
    "long-query": b"?" + b"x=1&" * 25_000,
    "deep": b"/redirects/" + b"../" * 20_000 + b"x",
    "quotes": b"\"'<>",
    "two": b"/redirects/nowhere, /redirects/nowhere",
    "unknown-host": b"http://nowhere.invalid/",
    "surrogate": b"/\xed\xa0\x80",
    "lone-percent-surrogate": b"/%ed%a0%80",
}
_REFRESHES = {
    "javascript": "0; url=javascript:alert(1)",
    "data": "0; url=data:text/html,x",
    "ipv6-open": "0; url=http://[::1",
    "port-large": "0; url=http://127.0.0.1:99999/",
    "empty": "",
    "no-url": "0; url=",
    "negative": "-5; url=/redirects/nowhere",
    "huge": "99999999999999999999; url=/redirects/nowhere",
    "many-digits": "9" * 5_000 + "; url=/redirects/nowhere",
    "float": "1e400; url=/redirects/nowhere",
    "nan": "nan; url=/redirects/nowhere",
    "quotes": "0; url='\"/redirects/nowhere",
    "self": "0; url=",
    "long": "0; url=/redirects/" + "x" * 3_000,
    "surrogate": "0; url=/&#xD800;",
    "spaces": " " * 3_000 + "0; url=/redirects/nowhere",
}


def _to(location: bytes, status: bytes = b"302 Found") -> HostileAnswer:
    head = b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: 2\r\nLocation: %b\r\n\r\n"
    return raw(head % (status, location) + b"no", then="keep")


def _refresh(content: str) -> HostileAnswer:
    tag = f'<meta http-equiv="refresh" content="{escape(content)}">'
    return whole(f"<!DOCTYPE html>\n<head>{tag}<title>Refresh</title></head>\n")


def _loops() -> dict[str, HostileAnswer]:
    chain = {f"chain/{n}": _to(b"/redirects/chain/%d" % (n + 1)) for n in range(40)}
    return chain | {
        "self": _to(b"/redirects/self"),
        "self-permanent": _to(b"/redirects/self-permanent", b"308 Permanent Redirect"),
        "one": _to(b"/redirects/other"),
        "other": _to(b"/redirects/one"),
        "case": _to(b"/Redirects/case"),
        "refresh-self": _refresh("0; url=/redirects/refresh-self"),
        "refresh-one": _refresh("0; url=/redirects/refresh-other"),
        "refresh-other": _refresh("0; url=/redirects/refresh-one"),
    }


def _statuses() -> dict[str, HostileAnswer]:
    body = html("Moved")
    codes = (300, 301, 302, 303, 304, 305, 306, 307, 308, 399)
    without = {f"no-location/{code}": whole(body, status=f"{code} Odd") for code in codes}
    return without | {
        "location-200": whole(body, "text/html", "Location: javascript:1"),
        "location-500": whole(body, "text/html", "Location: /x", status="500 Odd"),
        "two-locations": raw(
            b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nLocation: file:///etc/passwd\r\n"
            b"Content-Length: 0\r\n\r\n",
            then="keep",
        ),
        "refresh-header": whole(body, "text/html", "Refresh: 0; url=javascript:alert(1)"),
        "large-body": raw(
            b"HTTP/1.1 302 Found\r\nLocation: /redirects/nowhere\r\nContent-Length: 3000000\r\n\r\n"
            + b"x" * 3_000_000,
            then="keep",
        ),
    }


def pages() -> Pages:
    found = {f"to/{name}": _to(location) for name, location in LOCATIONS.items()}
    found |= {f"moved/{name}": _to(location, b"301 Moved") for name, location in LOCATIONS.items()}
    found |= {f"refresh/{name}": _refresh(content) for name, content in _REFRESHES.items()}
    return found | _loops() | _statuses() | {"nowhere": whole(html("Nowhere"))}

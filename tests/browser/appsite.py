"""A site whose pages are the work of scripts, for `RawServer`."""

from rawserver import Script

OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"Content-Type: text/html; charset=utf-8\r\n"
JSON = b"Content-Type: application/json\r\n"


def whole(head: bytes, body: bytes | str, status: bytes = b"200 OK") -> Script:
    sent = body.encode() if isinstance(body, str) else body
    length = b"Content-Length: %d\r\n\r\n" % len(sent)
    return Script([b"HTTP/1.1 " + status + b"\r\n" + head + length + sent])


def chunked(head: bytes, body: str) -> Script:
    """How much will come is not said."""
    chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body.encode())
    return Script([OK + head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk])


def page(script: str, body: str = '<div id="root"></div>') -> str:
    return (
        "<!DOCTYPE html><html><head><title>App</title></head>"
        f"<body>{body}<script>{script}</script></body></html>"
    )


FILL = "document.getElementById('root').innerHTML = '<p>' + text + '</p>'"
#: Fetches its text, and shows it.
APP = page(f"fetch('/text').then(a => a.json()).then(text => {{ {FILL} }})")
#: Loads all kinds of things.
PARTS = page(
    "window.open('/window'); fetch('/text')",
    '<div id="root"></div><img src="/picture.png" onerror="this.remove()">'
    '<iframe src="/frame"></iframe><video src="/film" autoplay></video>'
    '<link rel="stylesheet" href="/style">',
)
STYLE = "@font-face { font-family: f; src: url(/font) } body { font-family: f }"
RELOAD = page(
    "if (document.cookie) { const text = 'tested'; "
    + FILL
    + " } else { document.cookie = 'tested=1'; location.reload() }"
)
#: Never stops to ask.
ENDLESS = (
    "let n = 0; const ask = () => { for (let i = 0; i < 50; i++) fetch('/text?' + n++);"
    "setTimeout(ask, 0) }; const text = 'asks'; " + FILL + "; ask()"
)
MOVED = b"Location: /app\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
LIST = (
    "fetch('/numbers').then(a => a.json()).then(numbers => { const text = numbers.map("
    "n => `<a href='/article?${n}'>${n}</a>`).join('') + '<a href=/old>old</a>'"
    f"+ '<a href=/secret>secret</a>'; {FILL} }})"
)
GBK = '<html><head><meta charset="gbk"><title>今日新闻</title></head><body>今日新闻</body></html>'

APP_SITE = {
    "app": whole(HTML + b"Set-Cookie: a=1\r\nX-Own: yes\r\n", APP),
    "text": whole(JSON, '"Written by a script, 世界"'),
    "parts": whole(HTML, PARTS),
    "style": whole(b"Content-Type: text/css\r\n", STYLE),
    "gbk": whole(b"Content-Type: text/html\r\n", GBK.encode("gbk")),
    "missing": whole(HTML, page("const text = 'not here'; " + FILL), b"404 Not Found"),
    "moved": whole(MOVED, b"", b"302 Found"),
    "sends": whole(HTML, page("location.href = '/app'")),
    "sends-late": whole(HTML, page("setTimeout(() => { location.href = '/app' }, 200)")),
    "reloads": whole(HTML, RELOAD),
    "reloads-always": whole(HTML, page("location.reload()", "<p>Round and round</p>")),
    "feed": whole(b"Content-Type: application/rss+xml\r\n", "<rss><channel/></rss>"),
    "picture": whole(b"Content-Type: image/png\r\n", b"\x89PNG\r\n\x1a\n\x00\xff"),
    "file": whole(HTML + b"Content-Disposition: attachment\r\n", "<p>saved</p>"),
    "nothing": Script([b"HTTP/1.1 204 No Content\r\n\r\n"]),
    "cut": Script([OK + HTML + b"Content-Length: 99\r\n\r\n<p>Half"], "close"),
    "silence": Script([], "close"),
    "silent": Script([], "hang"),
    "half": whole(HTML, page("", '<p>Half</p><img src="/x"><script async src="/silent"></script>')),
    "loop": whole(HTML, page("while (true) {}", "<p>Stuck</p>")),
    "late-loop": whole(HTML, page("setTimeout(() => { while (true) {} }, 0)", "<p>Stuck</p>")),
    "large": whole(HTML, "<p>" + "long " * 20_000),
    "grows": whole(HTML, page("document.body.append('long '.repeat(20000))")),
    "large-chunks": chunked(HTML, "<p>" + "long " * 20_000),
    "large-file": whole(b"Content-Type: text/plain\r\n", "long " * 20_000),
    "large-file-chunks": chunked(b"Content-Type: text/plain\r\n", "long " * 20_000),
    "endless": whole(HTML, page(ENDLESS)),
    "place": whole(HTML, page("history.replaceState(0, '', '/a/b/c')", '<a href="d">d</a>')),
    "hostile": whole(
        HTML,
        page(
            "Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'lies' });"
            "alert('stop'); print(); const text = 'truth'; " + FILL
        ),
    ),
    # A small site: a list, and articles.
    "list": whole(HTML, page(LIST)),
    "numbers": whole(JSON, "[1, 2, 3, 4, 5, 6]"),
    "article": whole(HTML, page("const text = 'Article ' + location.search; " + FILL)),
    "old": whole(b"Location: /article?old\r\n", b"", b"301 Moved Permanently"),
    "robots.txt": whole(b"Content-Type: text/plain\r\n", "User-agent: *\nDisallow: /secret\n"),
    # Does not answer the first time.
    "held": Script([], "hang", later=whole(HTML, page("const text = 'Held'; " + FILL))),
}

"""Links that are not links, and traps that go on and on."""

from html import escape

from weft.testing.hostile.answers import HostileAnswer, Pages, html, links, whole

#: Values of href; `{}` is the address of the site: HOST:PORT.
HREFS = (
    *("", " ", "#", "?", "??", ".", "..", "/", "//", "///", "////x", ":", "::", "\\", "\\\\x\\y"),
    *("http:", "http:/", "http://", "http:///", "http:////x", "http://?", "http://#", "http://:"),
    *("http://:80/", "http://@/", "http://a:b@/", "http://[", "http://]", "http://[]/"),
    *("http://[::1", "http://[::1]:99999/", "http://[:::::::::]/", "http://[1.2.3.4]/"),
    *("http://[::ffff:999.1.1.1]/", "http://[v1.x]/", "http://[fe80::1%25lo]/", "//[/", "//[::1]x"),
    *("http://{}x/", "http://{}:80:80/", "http://127.0.0.1:-1/", "http://127.0.0.1:65536/"),
    *(
        "http://127.0.0.1:0/",
        "http://127.0.0.1:1e3/",
        "http://127.0.0.1:\uff10\uff10/",
        "http://1.2.3/",
    ),
    *("http://256.256.256.256/", "http://0x7f.1/", "http://4294967296/", "http://1.2.3.4.5/"),
    *("http://a..b/", "http://./", "http://../", "http://-a.invalid/", "http://a_b.invalid/"),
    *("http://a b/", "http://a%20b/", "http://a%00b/", "http://a%zz/", "http://xn--/"),
    *("http://xn--a/", "http://ä.invalid/", "http://☃.invalid/", "http://a。b\uff0ec｡invalid/"),
    *(
        "http://\uff41.invalid/",
        "http://\u202ea.invalid/",
        "http://a\u00adb.invalid/",
        "http://%E4/",
    ),
    *("http://user:secret@{}/addresses/with-user", "http://{}@{}/addresses/with-user"),
    *("http://nowhere.invalid/", "https://{}/", "HTTP://{}/addresses/upper", "hTtP:/addresses/x"),
    *("javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:x", " javascript:x", "data:x,y"),
    *("data:text/html;base64,PGEgaHJlZj0veD4=", "file:///etc/passwd", "file:/etc/passwd"),
    *("mailto:a@b", "tel:1", "sms:1", "ftp://{}/x", "ws://{}/x", "about:blank", "blob:x", "urn:x"),
    *("view-source:http://{}/", "feed:http://{}/", "intent://x#Intent;end", "x-y+z.1:q", "1a:b"),
    *("/addresses/%", "/addresses/%%%", "/addresses/%zz", "/addresses/%u1234", "/addresses/%00"),
    *("/addresses/%ff%fe", "/addresses/%ed%a0%80", "/addresses/%2e%2e/%2e%2e/x", "/addresses/%2f"),
    *(
        "/addresses/a b",
        "/addresses/a\tb",
        "/addresses/a\nb",
        "/addresses/a\r\nb",
        "/addresses/\x01",
    ),
    *("/addresses/\x7f", "/addresses/\u0085", "/addresses/\u2028", "/addresses/\ufeff"),
    *("/addresses/ä", "/addresses/漢字", "/addresses/😀", "/addresses/\ufffd", "/addresses/|{}^`"),
    *('/addresses/"quoted"', "/addresses/<tag>", "/addresses/;a=b;c", "/addresses/a;jsessionid=1"),
    *("/addresses/../../../../x", "/addresses/./././x", "/addresses//x//y", "../" * 2_000 + "x"),
    *("/addresses/x?", "/addresses/x?#", "/addresses/x#a#b", "/addresses/x?a=b&&c&=d", "?a?b?c"),
    *("/addresses/x?" + "a=b&" * 400, "/addresses/" + "x" * 2_500, "/addresses/" + "y" * 100_000),
    *("?" + "z" * 100_000, "#" + "f" * 100_000, "/addresses/" + "a/" * 900, "/" * 2_000),
    *("/Addresses/Case", "/addresses/case", "/ADDRESSES/CASE", "/addresses/case/", "/addresses/x."),
    *("/addresses/index.php/index.php/x", "/addresses/x.html/x.html", "/addresses/x.PDF"),
)

#: How long a trap goes on; some have no end.
MONTHS = 240


def _trap(path: str) -> HostileAnswer | None:
    """Pages that link to more pages of their kind."""
    name, _, rest = path.partition("/")
    if name == "calendar":
        month = int(rest or 0) if (rest or "0").isdecimal() else 0
        return _leading(f"/addresses/calendar/{month + 1}") if month < MONTHS else _leading()
    if name in ("deeper", "up"):
        return _leading("deeper/" if name == "deeper" else "../up/up/")
    if name == "session":
        number = int(rest) if rest.isdecimal() and len(rest) < 9 else 0
        return _leading(f"/addresses/session/{number + 1}", f"/addresses/x;sid={number}")
    if name == "query":
        return _leading(f"?{rest}x=1&", "?sort=asc", "?sort=desc&page=1")
    return None


def _leading(*hrefs: str) -> HostileAnswer:
    return whole(html("Trap", links(*hrefs)))


TRAPS = ("calendar/0", "deeper/", "up/", "session/0", "query/")


def page(path: str) -> HostileAnswer:
    """Any odd link leads to a page."""
    return _trap(path) or whole(html("Address"))


def pages() -> Pages:
    return {name: page(name) for name in TRAPS}


def index(site: str) -> str:
    """A page with all of these links, unchanged."""
    found = [href.replace("{}", site) for href in HREFS]
    return "\n".join(f'<a href="{escape(href)}">x</a>' for href in found)

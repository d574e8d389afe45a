"""The paths that exist on every site: mistakes of servers, and typical features of sites.

Each function takes the request and the rest of the path after its own part.
"""

import json
import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from html import escape
from urllib.parse import parse_qs, quote

from weft.testing.site.wire import Request, SiteAnswer, answer, html_answer, redirect, text_answer

MEMBERS = 5
BOMB_BYTES = 50_000_000
LONG_URL_CHARS = 100_000

_TOKEN = "weft-5f2a91c07d"
_SESSION = "session=weft-e80d63b4aa"


def special(request: Request) -> SiteAnswer | None:
    """The answer of a special path, if this is one."""
    name, slash, rest = request.path[1:].partition("/")
    found = _PATHS.get(name + slash)
    return found(request, rest) if found else None


def not_found() -> SiteAnswer:
    return html_answer("<!DOCTYPE html>\n<title>Not found</title>\n<h1>Not found</h1>\n", 404)


def _page(title: str, content: str, status: int = 200) -> SiteAnswer:
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head><title>{title}</title></head>\n'
    return html_answer(f"{head}<body>\n<h1>{title}</h1>\n{content}\n</body>\n</html>\n", status)


def _missing(request: Request, rest: str) -> SiteAnswer:
    return not_found()


def _status(request: Request, code: str) -> SiteAnswer:
    if not re.fullmatch("[2-5][0-9][0-9]", code):
        return not_found()
    status = int(code)
    if status in (204, 304):
        return SiteAnswer(
            status, f"HTTP/1.1 {status} Nothing\r\nServer: weft-site\r\n\r\n".encode()
        )
    headers = "Location: /\r\n" if status in (301, 302, 303, 307, 308) else ""
    if status in (429, 503):
        headers = "Retry-After: 1\r\n"
    return text_answer(status, f"Status {status}\n", headers)


def _slow(request: Request, seconds: str) -> SiteAnswer:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]+)?", seconds):
        return not_found()
    return text_answer(200, f"After {seconds} s\n", delay_s=float(seconds))


def _redirect_loop(request: Request, rest: str) -> SiteAnswer:
    return redirect("/redirect-loop")


def _redirect_to(request: Request, rest: str) -> SiteAnswer:
    url = parse_qs(request.query).get("url", [""])[0]
    # Quoting keeps newlines out of the header.
    return redirect(quote(url, safe=":/?#[]@!$&'()*+,;=%~")) if url else text_answer(400, "url?\n")


def _broken(request: Request, kind: str) -> SiteAnswer:
    if kind == "charset":
        return _invalid_utf8()
    data = _BROKEN.get(kind)
    if data is None:
        return not_found()
    return SiteAnswer(200 if data.startswith(b"HTTP/") else 0, data, is_broken=True)


def _invalid_utf8() -> SiteAnswer:
    body = b"<!DOCTYPE html>\n<title>Caf\xe9 \xff\xfe</title>\n<h1>\xc3\x28 \x80</h1>\n"
    return answer(200, body, "text/html; charset=utf-8")


_HTML_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
_HALF_BODY = b"<!DOCTYPE html>\n<title>Half</title>\n<p>The second half of this page is"
_BROKEN = {
    # The chunk declares 4096 bytes.
    "close": _HTML_HEAD + b"Transfer-Encoding: chunked\r\n\r\n1000\r\n" + _HALF_BODY,
    "length": _HTML_HEAD + b"Content-Length: 4096\r\n\r\n" + _HALF_BODY,
    "header": b"\x16\x03\x01 this is not HTTP \x00\xff\r\n\r\n",
}


def _trap(request: Request, rest: str) -> SiteAnswer:
    here = escape(request.path.rstrip("/"))
    links = [f'<a href="{here}/{number}">{number}</a>' for number in range(10)]
    return _page("Deeper", "\n".join(links))


def _bomb(request: Request, rest: str) -> SiteAnswer:
    headers = "Content-Encoding: gzip\r\n"
    return answer(200, _bomb_body(), "text/html; charset=utf-8", headers)


@lru_cache(maxsize=1)
def _bomb_body() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = b" " * (BOMB_BYTES // 50)
    return b"".join(packer.compress(block) for _ in range(50)) + packer.flush()


def _long_link(request: Request, rest: str) -> SiteAnswer:
    return _page("Long link", f'<a href="/long/{"a" * LONG_URL_CHARS}">Long</a>')


def _long(request: Request, rest: str) -> SiteAnswer:
    return text_answer(414, "Too long\n")


def _login(request: Request, rest: str) -> SiteAnswer:
    if request.method != "POST":
        return _page("Login", _LOGIN_FORM)
    sent = parse_qs(request.body.decode("latin-1"))
    if sent != {"user": ["weft"], "password": ["secret"], "csrf": [_TOKEN]}:
        return _page("Login failed", _LOGIN_FORM, 403)
    return redirect("/members/", f"Set-Cookie: {_SESSION}; Path=/; HttpOnly\r\n")


_LOGIN_FORM = f"""<form method="post" action="/login">
<input type="hidden" name="csrf" value="{_TOKEN}">
<label>User <input name="user"></label>
<label>Password <input type="password" name="password"></label>
<button>Log in</button>
</form>"""


def _members(request: Request, rest: str) -> SiteAnswer:
    if _SESSION not in request.header("cookie").split("; "):
        return redirect("/login")
    if rest == "":
        links = [f'<a href="/members/{number}">Member {number}</a>' for number in range(MEMBERS)]
        return _page("Members", "\n".join(links))
    if rest not in map(str, range(MEMBERS)):
        return not_found()
    return _page(f"Member {rest}", '<a href="/members/">All members</a>')


def _echo(request: Request, rest: str) -> SiteAnswer:
    seen = {
        "method": request.method,
        "path": request.target,
        "headers": request.headers(),
        "body": request.body.decode("latin-1"),
    }
    return answer(200, json.dumps(seen).encode(), "application/json")


#: By the first part of the path, including the slash after it.
_PATHS: dict[str, Callable[[Request, str], SiteAnswer]] = {
    "missing/": _missing,
    "status/": _status,
    "slow/": _slow,
    "redirect-loop": _redirect_loop,
    "redirect-to": _redirect_to,
    "broken/": _broken,
    "trap": _trap,
    "trap/": _trap,
    "bomb": _bomb,
    "long-link": _long_link,
    "long/": _long,
    "login": _login,
    "members/": _members,
    "echo": _echo,
}

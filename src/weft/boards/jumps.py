"""Jump links: they lead to a page of another site through a service that counts clicks.

Search engines have them, social networks, and shorteners of addresses. Only the page that is meant
counts. Most links carry its address; the others have to be asked, and answer by a redirect or by a
small page that leads on.
"""

import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from urllib.parse import unquote

from weft.boards.board.patterns import MAX_URL_LENGTH, UrlPattern
from weft.urls import NO_URL, browser_url, host_key

#: Jump links within jump links, and escapes within escapes.
MAX_NESTING = 4
#: A page that only leads on is short; what comes later is not searched.
MAX_PAGE_BYTES = 65_536
#: Answers, sets of patterns and hosts that are kept.
_KEPT_ANSWERS = 16_384
_KEPT_SETS = 1_000
_KEPT_HOSTS = 1_000

#: Regular expressions: for the whole host, and for how what follows it begins.
_KNOWN: tuple[tuple[str, str], ...] = (
    # Search engines
    (r"(?:\w+\.)?baidu\.com", r"/(?:link|baidu\.php)\?"),
    (r"(?:\w+\.)?bing\.com", r"/(?:ck/a|aclk|aclick|link|news/apiclick\.aspx)\?"),
    (r"(?:\w+\.)?google\.(?:com?\.)?\w{2,3}", r"/(?:url|goto|imgres)\?|/amp/"),
    (r"[\w-]+\.cdn\.ampproject\.org", r"/[cv]/"),
    (r"(?:\w+\.)?sogou\.com", r"/link\?"),
    (r"(?:\w+\.)?so\.com", r"/link\?"),
    (r"r\.search\.yahoo\.com", r"/"),
    (r"(?:\w+\.)?duckduckgo\.com", r"/l/?\?"),
    (r"(?:\w+\.)?yandex\.\w{2,3}", r"/clck/jsredir\?"),
    # Social networks, portals, mail
    (r"(?:\w+\.)?facebook\.com", r"/l\.php\?"),
    (r"l\.(?:instagram|messenger|threads)\.(?:com|net)", r"/\?"),
    (r"(?:\w+\.)?youtube\.com", r"/redirect\?"),
    (r"(?:\w+\.)?linkedin\.com", r"/(?:redir/redirect|safety/go)\?"),
    (r"out\.reddit\.com", r"/"),
    (r"(?:\w+\.)?vk\.com", r"/away\.php\?"),
    (r"steamcommunity\.com", r"/linkfilter/?\?"),
    (r"[\w-]+\.safelinks\.protection\.outlook\.com", r"/\?"),
    (r"(?:\w+\.)?toutiao\.com", r"/search/jump\?|/\?(?:.*&)?(?:url|target)="),
    (r"(?:\w+\.)?weibo\.(?:cn|com)", r"/sinaurl\?"),
    (r"(?:\w+\.)?zhihu\.com", r"/\?target="),
    (r"(?:\w+\.)?jianshu\.com", r"/go(?:-wild)?\?"),
    (r"link\.(?:csdn\.net|juejin\.(?:cn|im)|segmentfault\.com)", r"/\?"),
    (r"(?:www\.)?oschina\.net", r"/action/GoToLink\?"),
    (r"gitee\.com", r"/link\?"),
    (r"(?:www\.)?douban\.com", r"/link2/?\?"),
    (r"c\.pc\.qq\.com", r"/middle\w*\.html\?"),
    # Shorteners; their front pages lead nowhere
    (
        r"t\.co|t\.cn|url\.cn|dwz\.cn|(?:bit|ow|buff)\.ly|goo\.gl|is\.gd|(?:www\.)?tinyurl\.com"
        r"|lnkd\.in|dlvr\.it|trib\.al|ift\.tt|fb\.me|reut\.rs|nyti\.ms|bbc\.in|wapo\.st|cnn\.it",
        r"/[\w~-]+/?(?:[?#]|$)",
    ),
)
_KNOWN_COMPILED = tuple((re.compile(host), re.compile(rest)) for host, rest in _KNOWN)

#: The names that targets usually have.
_TARGETS = (
    *("url", "u", "q", "target", "to", "uddg", "imgrefurl", "goto", "dest", "destination"),
    *("redirect", "redirect_url", "redirecturl", "pfurl", "link", "href"),
)
#: Where a reader came from, or comes back to: no targets.
_ORIGINS = re.compile(r"ref|from|source|src|back|return|origin|callback|img", re.IGNORECASE)
_WHOLE_URL = re.compile(r"https?://", re.IGNORECASE)
_ESCAPED_URL = re.compile(r"https?(?::|%(?:25)*3a)(?:/|%(?:25)*2f){2}", re.IGNORECASE)
#: Base64 of "http"; one search engine puts "a1" before it.
_BASE64_URL = re.compile(r"(?:a1)?(aHR0c[\w+/-]+)=*")
_RU = re.compile(r"/RU=([^/?#]+)")
_AMP = re.compile(r"(?:google\.[\w.]+/amp/|cdn\.ampproject\.org/[cv]/)(s/)?([\w-]+\.[^#]+)")

_LEADING_ON = re.compile(
    rb"http-equiv\s*=\s*[\"']?refresh[^>]{0,80}?url\s*=\s*[\"']?\s*(https?:[^\"'>\s]{1,4000})"
    rb"|location(?:\.href)?(?:\.(?:replace|assign)\(|\s{0,9}=)\s{0,9}[\"'](https?:[^\"'\s]{1,4000})",
    re.IGNORECASE,
)


def is_jump(url: str, patterns: tuple[str, ...] | None) -> bool:
    """Whether a link is a jump link: one that matches any of these regular expressions.

    None: one that Weft knows.
    """
    if patterns is None:
        return _is_known(url)
    return bool(patterns) and _matches(patterns, url)


def decode_jump(url: str, patterns: tuple[str, ...] | None = None) -> str | None:
    """Where a jump link leads, as far as it says so; None if it has to be asked.

    That may be another jump link, which has to be asked.
    """
    target = None
    for _ in range(MAX_NESTING):
        found = next(_targets(url), None)
        if found is None or found == url:
            break
        target = url = found
        if not is_jump(url, patterns):
            break
    return target


def find_target(page: bytes) -> str | None:
    """Where a page leads that is all that a jump link answers; None if it is another page."""
    match = _LEADING_ON.search(page[:MAX_PAGE_BYTES])
    if match is None:
        return None
    text = (match[1] or match[2]).decode("utf-8", "replace").replace("\\/", "/")
    return _web_url(unescape(text))


def _is_known(url: str) -> bool:
    if len(url) > MAX_URL_LENGTH:
        return False
    host, slash, rest = url.partition("//")[2].partition("/")
    known = _known_at(host)
    return known is not None and known.match(slash + rest) is not None


@lru_cache(_KEPT_HOSTS)
def _known_at(host: str) -> re.Pattern[str] | None:
    return next((rest for hosts, rest in _KNOWN_COMPILED if hosts.fullmatch(host)), None)


@lru_cache(_KEPT_ANSWERS)
def _matches(patterns: tuple[str, ...], url: str) -> bool:
    return any(each.matches(url) for each in _compiled(patterns))


@lru_cache(_KEPT_SETS)
def _compiled(patterns: tuple[str, ...]) -> tuple[UrlPattern, ...]:
    return tuple(map(UrlPattern, patterns))


def _targets(url: str) -> Iterator[str]:
    """The addresses in a link, the likeliest first."""
    if len(url) > MAX_URL_LENGTH:
        return
    path, _, query = url.partition("#")[0].partition("?")
    found = [*_in_path(path, url), *_in_query(query)]
    yield from filter(None, map(_whole, found))


def _in_path(path: str, url: str) -> Iterator[str]:
    if match := _RU.search(path):
        yield match[1]
    if match := _AMP.search(url):
        yield f"{'https' if match[1] else 'http'}://{match[2]}"


def _in_query(query: str) -> list[str]:
    """The values of a query that may be targets: those with usual names first."""
    if _WHOLE_URL.match(query):
        return [query]
    ranked: list[tuple[int, str]] = []
    start = 0
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if _WHOLE_URL.match(value) and "?" in value:
            # Nobody has escaped the target, so what follows is its own.
            value = query[start + len(name) + 1 :]
        if name.lower() in _TARGETS:
            ranked.append((_TARGETS.index(name.lower()), value))
        elif not _ORIGINS.search(name):
            ranked.append((len(_TARGETS), value))
        start += len(pair) + 1
    return [value for _, value in sorted(ranked, key=lambda each: each[0])]


def _whole(value: str) -> str | None:
    """The URL that a value is, however it is written."""
    if _WHOLE_URL.match(value):
        return _web_url(value if "?" in value else unquote(value))
    for _ in range(MAX_NESTING):
        value = unquote(value)
        if match := _BASE64_URL.fullmatch(value):
            value = _from_base64(match[1])
        if _WHOLE_URL.match(value):
            return _web_url(value)
        if not _ESCAPED_URL.match(value):
            break
    return None


def _from_base64(text: str) -> str:
    try:
        padded = text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4)
        return urlsafe_b64decode(padded).decode()
    except (NotBase64, UnicodeDecodeError):
        return ""


def _web_url(text: str) -> str | None:
    """As a browser writes it; None if it leads nowhere."""
    try:
        url = browser_url(text)
    except NO_URL:
        return None
    is_web = _WHOLE_URL.match(url) and len(url) <= MAX_URL_LENGTH and host_key(url)
    return url if is_web else None

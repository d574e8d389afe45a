"""URLs: the canonical form, the fingerprint, the host key.

Two requests are the same page when their fingerprints are equal. A fingerprint is 63 bits of a
keyed hash over method, canonical URL and body, so that it fits into a signed integer everywhere;
the odds that two of n URLs collide are about n²/2⁶⁴.

The canonical form is Scrapy's, so that both agree on which pages are the same. It is made by w3lib,
which takes 20 times as long as all the rest. So URLs that are canonical but for the order of their
query and a fragment are recognised by a pattern; most are.
"""

import re
from functools import lru_cache
from hashlib import blake2b

import can_ada

#: Raised by can_ada: ValueError for an invalid URL, TypeError for text with lone surrogates.
NO_URL = (TypeError, ValueError)

#: Changing this key makes every known URL unknown. It names the format; it is not a secret.
FINGERPRINT_KEY = b"weft/1"

_PORT = r":(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3})"
# Characters that w3lib leaves alone, and the escapes of those that it escapes. In a path `;` has a
# meaning of its own; so has `/.`, which is looked for later.
_PATH = (
    r"(?:[\w\-.~!$&'()*+,=:@/]++"
    r"|%(?:[01][0-9A-F]|2[0235F]|3[BCEF]|5[CE]|60|7[BDF]|[89A-F][0-9A-F]))*+"
)
_TEXT = (
    r"(?:[\w\-.~+]++"
    r"|%(?:[01][0-9A-F]|2[1-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF]|[89A-F][0-9A-F]))*+"
)
_PAIR = f"{_TEXT}={_TEXT}"
_PLAIN = re.compile(
    rf"(https?://([a-z0-9_.-]++)(?:{_PORT})?+/{_PATH})"
    rf"(?:\?({_PAIR}(?:&{_PAIR})*+)?+)?+(?:#.*)?+",
    re.ASCII | re.DOTALL,
)


def canonical_url(url: str) -> str:
    """The URL as Scrapy compares it: without fragment, with sorted query parameters, escaped in one
    way.

    An invalid URL is returned unchanged: it is its own canonical form.
    """
    return _canonical(url, _PLAIN.fullmatch(url))


def _canonical(url: str, match: re.Match[str] | None) -> str:
    if match is None or "/." in match[1]:
        return _by_w3lib(url)
    query = match[3]
    if query is None:
        return match[1]
    if "&" in query:
        if "%" in query or "+" in query:  # w3lib sorts by what they mean
            return _by_w3lib(url)
        # By name, then by value: the mark between them sorts before all that names are made of.
        pairs = sorted(query.replace("=", "\0").split("&"))
        query = "&".join(pairs).replace("\0", "=")
    return f"{match[1]}?{query}"


def _by_w3lib(url: str) -> str:
    # Imported here, because few commands need it, and it comes with half of an HTTP client.
    from w3lib.url import canonicalize_url

    try:
        return canonicalize_url(url)
    except ValueError:
        return url


def identity(url: str) -> tuple[int, str]:
    """The fingerprint and the host key of a plain GET, parsing its URL only once."""
    match = _PLAIN.fullmatch(url)
    number = _short(_digest(_canonical(url, match)))
    return number, host_key(url) if match is None else _key_of_host(match[2])


def fingerprint(
    url: str,
    method: str = "GET",
    body: bytes = b"",
    extra: bytes = b"",
    *,
    is_canonical: bool = False,
) -> int:
    """The 63-bit identity of a request; `extra` holds anything else that distinguishes requests.

    `is_canonical`: the URL counts as it is written."""
    digest = _digest(url if is_canonical else canonical_url(url))
    if method != "GET" or body or extra:
        for part in (method.encode(), body, extra):
            digest.update(b"\0" + len(part).to_bytes(8, "big") + part)
    return _short(digest)


def _digest(canonical: str) -> blake2b:
    raw = canonical.encode(errors="surrogatepass")
    return blake2b(raw, digest_size=8, key=FINGERPRINT_KEY)


def _short(digest: blake2b) -> int:
    return int.from_bytes(digest.digest(), "big") >> 1


def browser_url(url: str) -> str:
    """The URL as a browser writes it: without a default port, an address in its usual form."""
    return str(can_ada.parse(url).href)


def host_key(url: str) -> str:
    """The unit of politeness that a URL belongs to: its host name; empty if it has none."""
    try:
        return str(can_ada.parse(url).hostname)
    except NO_URL:
        return ""


# Hosts whose pages link to each other are few at a time.
@lru_cache(1000)
def _key_of_host(host: str) -> str:
    return host_key(f"http://{host}/")


def without_password(address: str) -> str:
    """The address of a server, safe to display.

    Cuts up to the last @, because an unencoded password may contain anything.
    """
    return re.sub(r"(?<=://).*@", "***@", address, flags=re.DOTALL)

"""URLs: the canonical form, the fingerprint, the host key.

Two requests are the same page when their fingerprints are equal. A fingerprint is 63 bits of a
keyed hash over method, canonical URL and body, so that it fits into a signed integer everywhere;
the odds that two of n URLs collide are about n²/2⁶⁴.
"""

import re
from hashlib import blake2b

import can_ada

#: What can_ada raises: ValueError for what is no URL, TypeError for text with lone surrogates.
NO_URL = (TypeError, ValueError)

#: Changing this key makes every known URL unknown. It names the format, it is no secret.
FINGERPRINT_KEY = b"weft/1"


def canonical_url(url: str) -> str:
    """The URL as a browser understands it, without fragment, its query parameters in order.

    What is no URL is returned as it came: it then is its own canonical form.
    """
    try:
        return _canonical(can_ada.parse(url))
    except NO_URL:
        return url


def _canonical(url: can_ada.URL) -> str:
    """Changes it."""
    url.hash = ""
    query = url.search
    if "&" in query:
        url.search = "?" + "&".join(sorted(query[1:].split("&")))
    elif not query:
        url.search = ""  # "http://host/?" is "http://host/"
    return str(url.href)


def identity(url: str) -> tuple[int, str]:
    """The fingerprint and the host key of a plain GET, by one look at its URL."""
    try:
        parsed = can_ada.parse(url)
    except NO_URL:
        return fingerprint(url), ""
    host = str(parsed.hostname)
    return _short(_digest(_canonical(parsed))), host


def fingerprint(url: str, method: str = "GET", body: bytes = b"", extra: bytes = b"") -> int:
    """The 63-bit identity of a request; `extra` holds whatever else tells requests apart."""
    digest = _digest(canonical_url(url))
    if method != "GET" or body or extra:
        for part in (method.encode(), body, extra):
            digest.update(b"\0" + len(part).to_bytes(8, "big") + part)
    return _short(digest)


def _digest(canonical: str) -> blake2b:
    raw = canonical.encode(errors="surrogatepass")
    return blake2b(raw, digest_size=8, key=FINGERPRINT_KEY)


def _short(digest: blake2b) -> int:
    return int.from_bytes(digest.digest(), "big") >> 1


def host_key(url: str) -> str:
    """The unit of politeness that a URL belongs to: its host name; empty where it has none."""
    try:
        return str(can_ada.parse(url).hostname)
    except NO_URL:
        return ""


def without_password(address: str) -> str:
    """The address of a server as it may be shown.

    Up to the last @: in a password that was not encoded there may be anything.
    """
    return re.sub(r"(?<=://).*@", "***@", address, flags=re.DOTALL)

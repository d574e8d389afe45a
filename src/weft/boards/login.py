"""Pages that want a login, in place of the list that was asked for."""

import re
from urllib.parse import urlsplit

_PASSWORD = re.compile(rb"<input[^>]{1,2000}?type\s*=\s*[\"']?password", re.IGNORECASE)
#: In the path of a URL. Other pages have a small form for it in their header.
_LOGIN = re.compile(r"(?<![a-z])(?:log-?in|log-?on|sign-?in|passport|sso|auth)(?![a-z])", re.I)


def is_login_page(body: bytes, url: str, *, has_topics: bool) -> bool:
    """`has_topics`: it leads to articles, too."""
    if not _PASSWORD.search(body):
        return False
    return not has_topics or _LOGIN.search(urlsplit(url).path.lower()) is not None

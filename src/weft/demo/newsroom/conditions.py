"""Validators: what a client can ask with whether a page has changed, and the answer if not."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b

from weft.demo.newsroom.issue import Served


def conditional(served: Served, headers: Mapping[str, str]) -> Served:
    """With validators, and without a body if the client has it. Names of headers are lower-case."""
    if served.status != 200:
        return served
    served = served._replace(headers=(*served.headers, *_validators(served)))
    if not _is_unchanged(dict(served.headers), served.modified, headers):
        return served
    return served._replace(status=304, body=b"")


def _validators(served: Served) -> list[tuple[str, str]]:
    found = []
    if served.validators in ("both", "etag"):
        found.append(("ETag", f'"{blake2b(served.body, digest_size=8).hexdigest()}"'))
    if served.validators in ("both", "modified") and served.modified:
        found.append(("Last-Modified", format_datetime(served.modified, usegmt=True)))
    return found


def _is_unchanged(
    validators: Mapping[str, str], modified: datetime | None, headers: Mapping[str, str]
) -> bool:
    """If-None-Match is the better question: if it is asked, the other does not count."""
    if "ETag" in validators and (known := headers.get("if-none-match")):
        tags = [tag.strip().removeprefix("W/") for tag in known.split(",")]
        return validators["ETag"] in tags
    if modified is None or "Last-Modified" not in validators:
        return False
    try:
        return modified <= parsedate_to_datetime(headers.get("if-modified-since", ""))
    except (TypeError, ValueError):  # no date, or one without a time zone
        return False

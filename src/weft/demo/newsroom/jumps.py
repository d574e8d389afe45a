"""A jump service as search engines have: links to other sites lead through it.

Every second link carries its target, the others only a number that the service knows.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64

from weft.demo.newsroom.issue import Issue, Served, redirect

#: Links to each of the other papers.
LINKS = 4
#: What precedes a target in Base64, as on a search engine.
_MARK = "a1"


def jump_links(issue: Issue) -> list[tuple[str, str]]:
    """Paths with the titles of what they lead to."""
    return [
        (f"/link?url={_encoded(url)}" if number % 2 == 0 else f"/link?url={_token(number)}", title)
        for number, (url, title) in enumerate(_targets(issue))
    ]


def jump(issue: Issue, value: str) -> Served | None:
    """The answer for a link that has this parameter."""
    if value.startswith(_MARK):
        target = _decoded(value.removeprefix(_MARK))
        # A service that leads anywhere would be abused.
        return redirect(target) if target.startswith(tuple(dict(issue.bases).values())) else None
    known = {_token(number): url for number, (url, _) in enumerate(_targets(issue))}
    return redirect(known[value]) if value in known else None


def _targets(issue: Issue) -> list[tuple[str, str]]:
    found = []
    for other in issue.others:
        theirs = issue._replace(paper=other)
        plain = [story for story in theirs.plain_stories() if not story.edition]
        found += [(theirs.url(story.path), story.title) for story in plain[5 : 5 + LINKS]]
    return found


def _token(number: int) -> str:
    return f"Qx7{(number + 11) * 7_919:06d}"


def _encoded(url: str) -> str:
    return _MARK + urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _decoded(value: str) -> str:
    try:
        return urlsafe_b64decode(value + "=" * (-len(value) % 4)).decode()
    except (NotBase64, UnicodeDecodeError):
        return ""

"""A page that wants a login is no list, and a list with a form for it is no login page."""

import pytest

from weft.boards.login import is_login_page

FORM = b'<form><input name=user><input name=secret type="password"></form>'
URL = "https://a.example"


@pytest.mark.parametrize(
    ("body", "path", "has_topics", "is_login"),
    [
        (FORM, "/members/", False, True),
        (FORM, "/login?next=/members/", True, True),
        (FORM, "/user/sign-in.html", True, True),
        (b"<INPUT TYPE=Password>", "/members/", False, True),
        (FORM, "/news/", True, False),
        (FORM, "/news/blogging/", True, False),
        (b"<p>Your password: <input type=text>", "/login", False, False),
    ],
)
def test_login_pages_are_known(body: bytes, path: str, has_topics: bool, is_login: bool) -> None:
    assert is_login_page(body, URL + path, has_topics=has_topics) is is_login

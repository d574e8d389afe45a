"""A page that declares a wrong charset is told."""

import pytest

from weft.boards.charsets import wrong_charset

PAGE = '<meta charset="{}"><p>Die Fähre ist spät</p>'


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("utf-8", "utf-8"), ("UTF8", "utf-8"), ("gb2312", "gb18030"), ("iso-8859-1", "cp1252")],
)
def test_a_right_charset(declared: str, encoding: str) -> None:
    body = PAGE.format(declared).encode(encoding)
    assert wrong_charset(body, "text/html", encoding) == ""
    assert wrong_charset(body, f"text/html; charset={declared}", encoding) == ""


def test_a_wrong_charset_in_the_header_or_the_page() -> None:
    body = PAGE.format("utf-8").encode("cp1252")
    told = "it says that its charset is utf-8, but it is cp1252; it was read as that"
    assert wrong_charset(body, "text/html; charset=utf-8", "cp1252") == told
    assert wrong_charset(body, "text/html", "cp1252") == told


def test_a_charset_is_called_as_the_site_calls_it() -> None:
    """Browsers read some as others, which mean the same and more."""
    body = PAGE.format("ISO-8859-1").encode()
    told = "it says that its charset is ISO-8859-1, but it is utf-8; it was read as that"
    assert wrong_charset(body, 'text/html; charset="ISO-8859-1"', "utf-8") == told
    assert wrong_charset(body, "text/html", "utf-8") == told


def test_no_charset_is_not_wrong() -> None:
    assert wrong_charset("<p>Fähre".encode("cp1252"), "text/html", "cp1252") == ""
    assert wrong_charset(b"<p>ferry", "text/html; charset=gbk", "utf-8") == ""
    assert wrong_charset("<p>Fähre".encode(), "text/html; charset=nonsense", "utf-8") == ""

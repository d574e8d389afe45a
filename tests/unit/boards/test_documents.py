"""Pages are told from other texts."""

import pytest

from weft.boards.documents import is_page

HTML = b"<!DOCTYPE html>\n<html><body><p>The ferry is late.</p></body></html>"
TEXT = b"# The ferry is late\n\nIt waits in the harbour, as <b>always</b>."


@pytest.mark.parametrize(
    "content_type",
    ["text/html", "text/html; charset=gbk", "Application/XHTML+XML", "application/xml", ""],
)
def test_a_page_by_its_type(content_type: str) -> None:
    assert is_page(b"<p>The ferry is late.", content_type)


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "text/markdown; charset=utf-8", "application/json", "text/css", "text/x-python"],
)
def test_other_texts_are_no_pages(content_type: str) -> None:
    assert not is_page(TEXT, content_type)


@pytest.mark.parametrize(
    "before", [b"", b"\xef\xbb\xbf", b"<!-- saved -->\r\n", b'<?xml version="1.0"?>']
)
def test_a_page_that_is_called_plain_text(before: bytes) -> None:
    assert is_page(before + HTML, "text/plain")

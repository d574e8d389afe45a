"""Further pages of a list are known by their addresses."""

import pytest

from weft.boards.pagenumbers import is_further_page

SITE = "https://x.example"


@pytest.mark.parametrize(
    ("url", "of"),
    [
        ("/page/2/", "/"),
        ("/page/3/", "/page/2/"),
        ("/page/2", "/index.html"),
        ("/page2/", "/"),
        ("/news/page/12/", "/news/"),
        ("/news/page-2.html", "/news/"),
        ("/news/index_2.html", "/news/"),
        ("/news/index_3.html", "/news/index_2.html"),
        ("/news/index3.shtml", "/news/index.shtml"),
        ("/a/news/list_1_2.html", "/a/news/"),
        ("/list.php?cid=3&page=2", "/list.php?cid=3"),
        ("/?paged=3", "/?paged=2"),
    ],
)
def test_pages_of_one_list(url: str, of: str) -> None:
    assert is_further_page(SITE + url, SITE + of)


@pytest.mark.parametrize(
    ("url", "of"),
    [
        ("/", "/page/2/"),
        ("/tags/ferry/page/2/", "/"),
        ("/news/page/2/", "/sport/"),
        ("/archives/12/", "/archives/"),
        ("/ferry-2.html", "/ferry.html"),
        ("/list.php?cid=4&page=2", "/list.php?cid=3"),
        ("/show.php?id=2", "/show.php"),
        ("/2026/", "/"),
    ],
)
def test_other_pages(url: str, of: str) -> None:
    assert not is_further_page(SITE + url, SITE + of)


def test_pages_of_other_hosts() -> None:
    assert not is_further_page("https://y.example/page/2/", f"{SITE}/")
    assert is_further_page("https://www.x.example/page/2/", f"{SITE}/")

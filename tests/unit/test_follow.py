from collections.abc import Iterable

import pytest
from scrapy.http import HtmlResponse, Response
from scrapy.link import Link

from weft.engine.requests.follow import absolute_urls

PAGE = HtmlResponse("http://h/dir/page", body=b"<p>text")


def urls(links: Iterable[str | Link], page: Response = PAGE) -> list[str]:
    return list(absolute_urls(page, links))


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("x", "http://h/dir/x"),
        (" /x\n", "http://h/x"),
        ("//x/y", "http://x/y"),
        ("?q", "http://h/dir/page?q"),
        ("http://x/a b", "http://x/a b"),
    ],
)
def test_links_become_absolute(href: str, url: str) -> None:
    assert urls([href]) == [url]


def test_links_of_an_extractor_are_followed() -> None:
    assert urls([Link("https://x/1", text="one"), Link("http://x/2")]) == [
        "https://x/1",
        "http://x/2",
    ]


@pytest.mark.parametrize("href", ["mailto:a@b", "javascript:void(0)", "ftp://x/", "http://["])
def test_what_is_no_link_to_a_web_page_is_left_out(href: str) -> None:
    assert urls([href, "x"])[-1] == "http://h/dir/x"
    assert len(urls([href, "x"])) == 1 + href.startswith("http://")


def test_links_are_relative_to_the_base_of_the_page() -> None:
    page = HtmlResponse("http://h/dir/page", body=b"<base href='http://x/y/'>")
    assert urls(["z"], page) == ["http://x/y/z"]


def test_a_response_that_is_no_text_has_links_too() -> None:
    assert urls(["z"], Response("http://h/dir/page")) == ["http://h/dir/z"]

"""What a browser makes of a page, and what it may load for that."""

import asyncio
from typing import Any

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import HtmlResponse, XmlResponse

from browser.browserkit import Browser
from proxyserver import ProxyServer
from rawserver import RawServer
from weft.engine.browser.traffic import MAX_REQUESTS


def asked(app: RawServer) -> list[str]:
    """The paths that were asked for, in their order."""
    return [head.split(b" ")[1].decode() for head in app.requests]


async def test_a_page_that_a_script_writes_is_rendered(browser: Browser, app: RawServer) -> None:
    response = await browser.fetch(f"{app.url}app#part")
    assert isinstance(response, HtmlResponse)
    assert (response.url, response.status) == (f"{app.url}app", 200)
    assert response.css("#root p::text").get() == "Written by a script, 世界"
    assert response.text.startswith("<!DOCTYPE html><html>")
    assert response.headers["X-Own"] == b"yes"
    assert response.headers.getlist("Set-Cookie") == [b"a=1"]
    assert response.flags == ["browser"]
    assert asked(app) == ["/app", "/text"]


async def test_only_what_a_page_needs_is_loaded(browser: Browser, app: RawServer) -> None:
    response = await browser.fetch(f"{app.url}parts")
    assert sorted(asked(app)) == ["/parts", "/style", "/text"]
    assert response.css("img::attr(src)").get() == "/picture.png"  # nobody was told that it failed


async def test_what_was_read_is_utf_8_and_says_so(browser: Browser, app: RawServer) -> None:
    response = await browser.fetch(f"{app.url}gbk")
    assert response.body.decode().count("今日新闻") == 2
    assert response.headers["Content-Type"] == b"text/html; charset=utf-8"
    assert response.css("meta::attr(charset)").get() == "utf-8"


async def test_the_status_is_that_of_the_page(browser: Browser, app: RawServer) -> None:
    response = await browser.fetch(f"{app.url}missing")
    assert (response.status, response.css("#root p::text").get()) == (404, "not here")
    assert (await browser.fetch(f"{app.url}nothing")).status == 204


async def test_headers_are_those_of_the_request_and_only_for_the_page(
    browser: Browser, app: RawServer
) -> None:
    headers = {
        "User-Agent": "Weft/1",
        "Accept-Language": "de-DE,de;q=0.8",
        "Referer": f"{app.url}list",
        "X-Own": "1",
        "Cookie": "session=abc; theme=dark",
        "If-None-Match": '"1"',
        "If-Modified-Since": "Mon, 01 Jan 2026 00:00:00 GMT",
    }
    await browser.fetch(f"{app.url}app", headers=headers)
    page, text = app.requests
    for line in (
        *(b"User-Agent: Weft/1", b"Accept-Language: de-DE,de;q=0.8", b"X-Own: 1"),
        *(b"Referer: %blist" % app.url.encode(), b"Cookie: session=abc; theme=dark"),
    ):
        assert line in page
    assert b"If-" not in page
    assert b"User-Agent: Weft/1" in text
    assert b"X-Own" not in text


async def test_pages_share_no_cookies(browser: Browser, app: RawServer) -> None:
    await browser.fetch(f"{app.url}app")
    await browser.fetch(f"{app.url}app")
    assert [b"Cookie" in head for head in app.requests] == [False, True, False, True]


async def test_a_redirect_is_left_to_the_crawl(browser: Browser, app: RawServer) -> None:
    response = await browser.fetch(f"{app.url}moved")
    assert (response.status, response.headers["Location"]) == (302, b"/app")
    assert response.headers.getlist("Set-Cookie") == [b"a=1", b"b=2"]
    assert asked(app) == ["/moved"]


@pytest.mark.parametrize("path", ["sends", "sends-late"])
async def test_so_is_one_that_a_script_makes(browser: Browser, app: RawServer, path: str) -> None:
    response = await browser.fetch(app.url + path)
    assert (response.status, response.headers["Location"]) == (302, app.url.encode() + b"app")
    assert response.flags == ["browser", "script_redirect"]
    assert asked(app) == [f"/{path}"]


@pytest.mark.parametrize("browser", [{"DOWNLOAD_TIMEOUT": 5}], indirect=True)
async def test_a_page_may_load_itself_again_but_not_for_ever(
    browser: Browser, app: RawServer
) -> None:
    response = await browser.fetch(f"{app.url}reloads")
    assert response.css("#root p::text").get() == "tested"
    assert asked(app) == ["/reloads", "/reloads"]
    response = await browser.fetch(f"{app.url}reloads-always")
    assert b"Round and round" in response.body
    assert asked(app)[2:] == ["/reloads-always"] * 3


async def test_what_is_no_page_comes_as_it_was_sent(browser: Browser, app: RawServer) -> None:
    feed = await browser.fetch(f"{app.url}feed")
    assert isinstance(feed, XmlResponse)
    assert feed.body == b"<rss><channel/></rss>"
    picture = await browser.fetch(f"{app.url}picture")
    assert picture.body == b"\x89PNG\r\n\x1a\n\x00\xff"
    assert (await browser.fetch(f"{app.url}file")).body == b"<p>saved</p>"


async def test_links_count_from_where_a_script_has_put_the_page(
    browser: Browser, app: RawServer
) -> None:
    response = await browser.fetch(f"{app.url}place")
    assert response.url == f"{app.url}place"
    assert isinstance(response, HtmlResponse)
    assert [link.url for link in response.follow_all(css="a")] == [f"{app.url}a/b/d"]


async def test_scripts_of_a_page_cannot_change_what_is_read(
    browser: Browser, app: RawServer
) -> None:
    response = await browser.fetch(f"{app.url}hostile")
    assert response.css("#root p::text").get() == "truth"


async def test_a_page_waits_until_its_host_may_be_asked(browser: Browser, app: RawServer) -> None:
    holds = browser.holds[f"{app.url}app"] = [0.01, 0.01]
    response = await browser.fetch(f"{app.url}app")
    assert (response.status, holds) == (200, [])


async def test_a_proxy_is_asked_for_the_page(browser: Browser, app: RawServer) -> None:
    with ProxyServer() as proxy:
        response = await browser.fetch(f"{app.url}gbk", meta={"proxy": proxy.url()})
        assert response.status == 200
        assert len(proxy.heads) == 1


# What does not come


async def test_a_dead_host_is_told_from_one_that_refuses(browser: Browser, app: RawServer) -> None:
    with pytest.raises(CannotResolveHostError, match="ERR_NAME_NOT_RESOLVED"):
        await browser.fetch("http://site.invalid/")
    with pytest.raises(DownloadConnectionRefusedError, match="ERR_CONNECTION_REFUSED"):
        await browser.fetch("http://127.0.0.1:2/")
    with pytest.raises(DownloadFailedError, match="ERR_EMPTY_RESPONSE"):
        await browser.fetch(f"{app.url}silence")
    with pytest.raises(ResponseDataLossError, match="cut short"):
        await browser.fetch(f"{app.url}cut")


async def problems(browser: Browser, *urls: str) -> list[Any]:
    """Of pages that are fetched at the same time."""
    return await asyncio.gather(*map(browser.fetch, urls), return_exceptions=True)


@pytest.mark.parametrize("browser", [{"DOWNLOAD_TIMEOUT": 4}], indirect=True)
async def test_pages_that_do_not_come_are_given_up(browser: Browser, app: RawServer) -> None:
    await browser.fetch(f"{app.url}feed")  # the browser has started
    urls = [app.url + path for path in ("silent", "loop", "late-loop")]
    for problem in await problems(browser, *urls):
        assert isinstance(problem, DownloadTimeoutError)
        assert "longer than 4.0 seconds" in str(problem)
    assert (await browser.fetch(f"{app.url}feed")).status == 200


@pytest.mark.parametrize("browser", [{"DOWNLOAD_TIMEOUT": 5}], indirect=True)
async def test_a_page_of_which_a_part_does_not_come_is_read_without_it(
    browser: Browser, app: RawServer
) -> None:
    response = await browser.fetch(f"{app.url}half")
    assert response.css("p::text").get() == "Half"


@pytest.mark.parametrize("browser", [{"DOWNLOAD_MAXSIZE": 50_000}], indirect=True)
async def test_pages_that_are_too_large_are_refused(browser: Browser, app: RawServer) -> None:
    paths = ("large", "large-chunks", "grows", "large-file", "large-file-chunks")
    for problem in await problems(browser, *(app.url + path for path in paths)):
        assert isinstance(problem, DownloadCancelledError)
        assert "DOWNLOAD_MAXSIZE (50,000)" in str(problem)


async def test_a_page_that_asks_for_ever_is_read_all_the_same(
    browser: Browser, app: RawServer
) -> None:
    response = await browser.fetch(f"{app.url}endless")
    assert response.css("#root p::text").get() == "asks"
    assert len(app.requests) <= MAX_REQUESTS + 1


async def test_a_browser_only_gets_web_pages(browser: Browser, app: RawServer) -> None:
    for url in ("file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/html,<p>hi"):
        with pytest.raises(UnsupportedURLSchemeError):
            await browser.fetch(url)
    with pytest.raises(NotSupported, match="only gets pages"):
        await browser.fetch(f"{app.url}app", method="POST", body=b"x")
    assert app.requests == []

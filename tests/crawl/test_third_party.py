"""Packages that many Scrapy projects use give the same items with Weft as without.

`make third-party` installs them. Without them these tests are skipped.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from beside import assert_same, crawl_beside
from crawling import times
from scrapy.http import Response
from walking import Fetcher

from weft.testing import Site, SiteServer

# scrapy-deltafetch


def test_deltafetch_skips_pages_that_gave_items_in_an_earlier_run(
    site: SiteServer, tmp_path: Path
) -> None:
    pytest.importorskip("scrapy_deltafetch")
    from thirdparty.delta import Delta

    settings = {
        "SPIDER_MIDDLEWARES": {"thirdparty.delta.AsyncDeltaFetch": 100},
        "DELTAFETCH_ENABLED": True,
    }
    plain, with_weft = crawl_beside(tmp_path, Delta, settings, runs=2, start_urls=[site.url])
    assert_same(plain, with_weft, [3, 0])
    for name in ("deltafetch/stored", "deltafetch/skipped"):
        assert [run.stats.get(name) for run in with_weft] == [run.stats.get(name) for run in plain]


# scrapy-fake-useragent


class Agents(Fetcher):
    name = "agents"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"agent": response.json()["headers"]["User-Agent"]}  # type: ignore[attr-defined]


def test_fake_useragent_chooses_the_user_agent(site: SiteServer, tmp_path: Path) -> None:
    pytest.importorskip("scrapy_fake_useragent")
    settings = {
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
            "scrapy_fake_useragent.middleware.RandomUserAgentMiddleware": 400,
        },
        "FAKEUSERAGENT_PROVIDERS": ["scrapy_fake_useragent.providers.FakerProvider"],
        "FAKER_RANDOM_UA_TYPE": "opera",
    }
    urls = [f"{site.url}echo?n={n}" for n in range(3)]
    plain, with_weft = crawl_beside(tmp_path, Agents, settings, urls=urls)
    for [run] in (plain, with_weft):
        assert len(run.items) == 3, run.log
        assert all("Opera/" in item["agent"] for item in run.items), run.items


# scrapy-rotating-proxies


def test_rotating_proxies_send_requests_through_a_proxy_that_works(tmp_path: Path) -> None:
    pytest.importorskip("rotating_proxies")
    # Imported here, because the process that crawls cannot find it.
    from rawserver import RawServer, Script

    settings = {
        "DOWNLOADER_MIDDLEWARES": {
            "rotating_proxies.middlewares.RotatingProxyMiddleware": 610,
            "rotating_proxies.middlewares.BanDetectionMiddleware": 620,
        },
        "ROTATING_PROXY_PAGE_RETRY_TIMES": 50,
    }
    good = Script([b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<p>proxy</p>"])
    banned = Script([b"HTTP/1.1 403 No\r\nContent-Length: 6\r\n\r\nbanned"])
    urls = [f"http://site.invalid/page?{n}" for n in range(8)]
    with RawServer({"page": good}) as works, RawServer({"page": banned}) as bans:
        settings["ROTATING_PROXY_LIST"] = [works.url, bans.url]
        plain, with_weft = crawl_beside(tmp_path, Fetcher, settings, urls=urls)
    assert_same(plain, with_weft, [8])
    assert len(works.requests) == 16
    assert with_weft[0].stats["proxies/dead"] <= 1


# scrapy-poet


def test_poet_gives_page_objects_to_callbacks(site: SiteServer, tmp_path: Path) -> None:
    pytest.importorskip("scrapy_poet")
    from thirdparty.pages import PoetSpider

    settings = {"ADDONS": {"scrapy_poet.Addon": 300}}
    plain, with_weft = crawl_beside(tmp_path, PoetSpider, settings, site=site.url)
    assert_same(plain, with_weft, [6])


# scrapy-playwright


def test_playwright_fetches_pages_with_a_browser(tmp_path: Path) -> None:
    pytest.importorskip("scrapy_playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    from thirdparty.browser import BrowserSpider

    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    settings = {
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": chromium, "args": ["--no-sandbox"]},
    }
    with SiteServer(Site(pages=10, links=3)) as site:
        plain, with_weft = crawl_beside(tmp_path, BrowserSpider, settings, site=site.url)
        assert times(site.hits())["/p/1.html"] == 2
    assert_same(plain, with_weft, [6])

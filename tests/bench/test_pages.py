"""The pages of the benchmark: deterministic, linked, and like real ones."""

from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from bench.crawlers.pages import Author, Page, StaticSite

PORT = 21_000
SITE = StaticSite(pages=40, page_bytes=30_000, links=60)
SMALL = StaticSite(pages=40, page_bytes=2_000, links=10)
HOSTS = StaticSite(pages=5, page_bytes=30_000, links=60, hosts=7)


def hrefs_of(page: Page) -> list[str]:
    nodes = LexborHTMLParser(page.html).css("a[href]")
    return [node.attributes["href"] or "" for node in nodes]


def url_of(page: Page) -> str:
    return f"http://{page.host}:{PORT}{page.path}"


def links_of(page: Page) -> set[str]:
    urls = (urljoin(url_of(page), href).partition("#")[0] for href in hrefs_of(page))
    return {url for url in urls if url.startswith("http://127.")}


@pytest.mark.parametrize("site", [SITE, SMALL, HOSTS, SITE._replace(pages=1)])
def test_every_page_is_reachable_from_the_first_of_its_host(site: StaticSite) -> None:
    pages = {url_of(page): page for page in Author(site, PORT).pages()}
    assert len(pages) == site.total
    for start in (url for url, page in pages.items() if "-0.html" in page.path):
        host = urlsplit(start).netloc
        seen, queue = {start}, [start]
        while queue:
            new = links_of(pages[queue.pop()]) - seen
            queue += [url for url in new if urlsplit(url).netloc == host]
            seen |= new
        assert {url for url in pages if urlsplit(url).netloc == host} <= seen


@pytest.mark.parametrize("site", [SITE, SMALL, HOSTS])
def test_no_link_that_is_followed_leads_nowhere(site: StaticSite) -> None:
    pages = list(Author(site, PORT).pages())
    assert set().union(*map(links_of, pages)) == set(map(url_of, pages))


@pytest.mark.parametrize("site", [SITE, SMALL, StaticSite(3, 150_000, 130)])
def test_pages_have_the_size_and_the_links_that_were_asked_for(site: StaticSite) -> None:
    for page in Author(site, PORT).pages():
        assert len(page.html) == pytest.approx(site.page_bytes, rel=0.05)
        assert len(hrefs_of(page)) == site.links


def test_links_have_all_forms_and_some_are_twice_on_a_page() -> None:
    page = next(Author(SITE, PORT).pages())
    hrefs = hrefs_of(page)
    starts = ("/", "../", "http://127.0.0.1:21000/", "https://", "mailto:", "#")
    assert all(any(href.startswith(start) for href in hrefs) for start in starts)
    assert len(set(hrefs)) < len(hrefs)


def test_pages_of_several_hosts_link_to_each_other() -> None:
    page = next(Author(HOSTS, PORT).pages())
    assert len({urlsplit(url).hostname for url in links_of(page)}) > 3


def test_titles_are_those_that_are_expected_and_cannot_be_guessed_from_urls() -> None:
    author = Author(SITE, PORT)
    titles = author.titles()
    assert len(set(titles.values())) == SITE.total
    for page in author.pages():
        node = LexborHTMLParser(page.html).css_first("title")
        assert node is not None
        assert node.text() == page.title == titles[url_of(page)]
        assert page.title.rsplit(maxsplit=1)[-1] not in page.path.removesuffix(".html").split("-")


def test_the_same_seed_gives_the_same_pages_and_another_gives_others() -> None:
    first, again, other = (
        list(Author(SITE._replace(seed=seed), PORT).pages()) for seed in (1, 1, 2)
    )
    assert first == again
    assert not {page.title for page in first} & {page.title for page in other}

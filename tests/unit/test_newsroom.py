"""The bundled news site is what it says, and Weft reads each of its pages right."""

import gzip
import http.client
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from email.message import Message
from functools import cache, lru_cache
from html import unescape
from itertools import combinations, pairwise
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import pytest
from _pytest.mark.structures import ParameterSet
from w3lib.encoding import http_content_type_encoding

from weft.boards.duplicates.rule import is_duplicate
from weft.boards.duplicates.signature import sign
from weft.boards.reading.reading import Reading, ReadOptions, read
from weft.demo.newsroom.conditions import conditional
from weft.demo.newsroom.issue import Served
from weft.demo.newsroom.lists import Listing
from weft.demo.newsroom.papers import LAST_EDITION, PAPERS
from weft.demo.newsroom.site import Newsroom
from weft.demo.newsroom.stories import PaperStory, stories
from weft.demo.newsroom.traps import COMPLETE_BYTES
from weft.errors import ConfigError, WeftError
from weft.markup import find_excess
from weft.testing.newsroom import NewsroomServer

BASES = {paper.name: f"http://127.0.0.{place}:8000" for place, paper in enumerate(PAPERS, 1)}
EDITIONS = range(LAST_EDITION + 1)
#: After all editions.
TODAY = date(2025, 10, 10)
DEAD_LINK = BASES["courier"] + "/supplement/harbour-days.html"
#: What is not fetched to walk through the site, besides traps.
ENDLESS = re.compile(r"/calendar/|/images/")


@lru_cache
def newsroom(edition: int = 0) -> Newsroom:
    return Newsroom(BASES, edition)


def serve(url: str, edition: int = 0, headers: Mapping[str, str] = {}) -> Served:
    paper = next(name for name, base in BASES.items() if url.startswith(base + "/"))
    return newsroom(edition).serve(paper, url.removeprefix(BASES[paper]), headers)


@cache
def reading(url: str, edition: int = 0) -> Reading:
    served = serve(url, edition)
    assert served.status == 200, url
    charset = http_content_type_encoding(served.content_type)
    return read(served.body, url, charset, today=TODAY, options=ReadOptions(has_all_links=True))


def plain_stories(section: str, edition: int = LAST_EDITION) -> dict[str, PaperStory]:
    found = newsroom(edition).stories()
    return {url: story for url, story in found.items() if story.section == section}


def canonical(url: str) -> str:
    """Without what only tells where a reader came from."""
    return re.sub(r"[?&](?:PHPSESSID|utm_\w+)=[^&]*", "", url)


SECTIONS = [section for paper in PAPERS for section in paper.sections if section.markup != "app"]


# What is there


def test_it_is_small_enough_to_be_crawled_by_a_test() -> None:
    kinds = [kind for name in BASES for kind in newsroom().kinds(name).values()]
    pages = [kind for kind in kinds if kind != "file"]
    assert 150 <= len(newsroom().stories()) <= 200
    assert 300 <= len(pages) <= 400
    assert set(kinds) == {
        *("article", "list", "collection", "print", "plain", "app", "file", "trap", "redirect"),
    }


def test_the_same_request_gives_the_same_answer() -> None:
    for name in BASES:
        for path, kind in newsroom().kinds(name).items():
            if kind != "trap":
                assert serve(BASES[name] + path) == Newsroom(BASES).serve(name, path)


def test_all_its_addresses_and_titles_are_different() -> None:
    known = stories(LAST_EDITION)
    assert len({story.key for story in known}) == len({story.title for story in known}) == 231
    assert {story.language for story in known} == {"en", "zh-CN"}


def links_of(url: str, served: Served) -> Iterator[str]:
    if served.location:
        yield urljoin(url, served.location)
    if served.content_type.startswith("text/html"):
        html = text_of(served)
        found = re.search('<base href="([^"]+)"', html)
        base = urljoin(url, found[1]) if found else url
        for href in re.findall('<a [^>]*?href="([^"]+)"', html):
            yield canonical(urldefrag(urljoin(base, unescape(href))).url)


def text_of(served: Served) -> str:
    try:
        return served.body.decode()
    except UnicodeDecodeError:
        return served.body.decode("gbk")


@lru_cache
def walked() -> dict[str, int]:
    """The status of each page that links lead to."""
    statuses: dict[str, int] = {}
    waiting = [base + "/" for base in BASES.values()]
    while waiting:
        url = waiting.pop()
        if url in statuses or ENDLESS.search(url):
            continue
        served = serve(url)
        statuses[url] = served.status
        if len(served.body) < 1_000_000:
            waiting += links_of(url, served)
    return statuses


def test_links_lead_to_every_page_and_but_one_is_dead() -> None:
    statuses = walked()
    assert [url for url, status in statuses.items() if status == 404] == [DEAD_LINK]
    pages = {
        BASES[name] + path
        for name in BASES
        for path, kind in newsroom().kinds(name).items()
        if kind not in ("app", "file", "redirect")
    }
    assert pages <= statuses.keys()


def test_links_within_the_site_are_to_its_papers() -> None:
    hosts = {urlsplit(url).hostname for url in walked()}
    assert hosts == {urlsplit(base).hostname for base in BASES.values()}


def test_what_is_not_there_is_missing() -> None:
    for path in ("/nothing", "/town/page/99/", "/business/?page=99", "/calendar/2025/13", "/link"):
        assert serve(BASES["courier"] + path).status == 404
    assert serve(BASES["evening"] + "/calendar/2025/10").status == 404


def test_wrong_options_are_told() -> None:
    with pytest.raises(ConfigError, match="edition 4 must be 0 to 3"):
        Newsroom(BASES, 4)
    with pytest.raises(ConfigError, match="no such papers"):
        Newsroom({"gazette": "http://127.0.0.1:8000"})


# Reading


def wanted_fields(url: str, story: PaperStory) -> dict[str, object]:
    return {
        "title": story.title,
        "authors": story.authors,
        "published": story.published,
        "language": story.language,
        "body": story.body,
        "tags": story.tags,
        "image": BASES[story.paper] + story.image if story.image else "",
        "canonical_url": url,
    }


def read_fields(url: str) -> dict[str, object]:
    article = reading(url, LAST_EDITION).article
    assert article is not None, url
    fields = {
        name: getattr(article, name)
        for name in ("title", "authors", "published", "language", "body", "tags", "canonical_url")
    }
    return fields | {"image": next(iter(article.images), "")}


def field_cases() -> Iterator[ParameterSet]:
    for section in SECTIONS:
        for field in wanted_fields("", stories()[0]):
            yield pytest.param(section.name, field, id=f"{section.name}-{field}")


@pytest.mark.parametrize(("section", "field"), [*field_cases()])
def test_each_article_is_read_right(section: str, field: str) -> None:
    known = plain_stories(section)
    wanted = {url: wanted_fields(url, story)[field] for url, story in known.items()}
    assert {url: read_fields(url)[field] for url in known} == wanted


def listings(section: str, edition: int) -> list[Listing]:
    return [
        listing for listing in newsroom(edition).listings() if listing.stories[0].section == section
    ]


@pytest.mark.parametrize("edition", [0, LAST_EDITION])
@pytest.mark.parametrize("section", [section.name for section in SECTIONS])
def test_each_list_is_read_right(section: str, edition: int) -> None:
    for listing in listings(section, edition):
        url = BASES[listing.paper] + listing.path
        page = reading(url, edition)
        wanted = {BASES[story.paper] + story.path: story.title for story in listing.stories}
        assert (page.article, page.judgement.topics.passes) == (None, True)
        assert {canonical(link.url): link.text for link in page.links} == wanted
        if listing.next:
            assert canonical(page.next[0]) == BASES[listing.paper] + listing.next
        else:  # session ids hide which page it is; but nothing new comes of that
            known = {BASES[listing.paper] + each.path for each in listings(section, edition)}
            assert {canonical(other) for other in page.next} <= known


def test_home_pages_lead_to_articles() -> None:
    for name, base in BASES.items():
        page = reading(base + "/")
        known = newsroom().stories()
        jumps = [link.url for link in page.links if "/link?" in link.url]
        assert page.article is None
        assert {link.url for link in page.links} - set(jumps) <= known.keys()
        assert len(page.links) == 3 * sum(s in SECTIONS for s in paper_sections(name)) + len(jumps)


def paper_sections(name: str) -> tuple[object, ...]:
    return next(paper.sections for paper in PAPERS if paper.name == name)


@pytest.mark.parametrize("name", BASES)
def test_collections_are_lists_of_articles(name: str) -> None:
    known = newsroom().stories()
    for path, kind in newsroom().kinds(name).items():
        if kind == "collection" and path != "/archive/":
            page = reading(BASES[name] + path)
            assert page.article is None, path
            assert {link.url for link in page.links} <= known.keys(), path


def test_pages_in_gbk_say_so_or_lie_or_say_nothing() -> None:
    said: Counter[str] = Counter()
    for url in plain_stories("finance"):
        served = serve(url, LAST_EDITION)
        match = re.search(rb'<meta charset="(.+?)"', served.body)
        said[match[1].decode() if match else ""] += 1
        assert served.content_type == "text/html"
        assert reading(url, LAST_EDITION).encoding == "gb18030"
    assert said.keys() == {"gbk", "utf-8", ""}
    assert min(said.values()) >= 3


def test_a_header_may_name_a_wrong_encoding() -> None:
    for url in plain_stories("culture"):
        assert serve(url).content_type == "text/html; charset=iso-8859-1"
        assert reading(url).encoding == "utf-8"


def test_versions_for_printers_name_their_article() -> None:
    prints = [path for path, kind in newsroom().kinds("courier").items() if kind == "print"]
    assert len(prints) == 20
    for path in prints:
        page = reading(BASES["courier"] + path)
        assert page.canonical_url == BASES["courier"] + path.removesuffix("?print=1")
        assert page.canonical_url in newsroom().stories()


def test_only_reprints_are_duplicates() -> None:
    signatures = {
        story.key: signature
        for story in stories(LAST_EDITION)
        if (signature := sign(story.body, story.title))
    }
    reprints = {(s.duplicate_of, s.key) for s in stories(LAST_EDITION) if s.duplicate_of}
    found = {
        (one, other)
        for one, other in combinations(signatures, 2)
        if is_duplicate(signatures[one], signatures[other])
    }
    assert len(reprints) == 6
    assert found == reprints


# Editions


def test_each_edition_adds_articles_and_changes_none() -> None:
    for before, after in pairwise(EDITIONS):
        old, new = newsroom(before).stories(), newsroom(after).stories()
        assert len(new) == len(old) + 11
        assert old.items() <= new.items()
        for url in old:
            assert serve(url, before) == serve(url, after)


def test_new_articles_are_on_the_first_page_of_their_section() -> None:
    new = newsroom(1).stories().keys() - newsroom(0).stories().keys()
    first = [listings(section.name, 1)[0] for section in SECTIONS]
    shown = {BASES[s.paper] + s.path for listing in first for s in listing.stories}
    assert len(new - shown) == 1  # that of the section which needs a browser


def test_the_edition_can_be_changed_while_it_serves() -> None:
    site = Newsroom(BASES)
    path = next(iter(newsroom(1).stories().keys() - newsroom(0).stories().keys()))
    paper = next(name for name, base in BASES.items() if path.startswith(base))
    path = path.removeprefix(BASES[paper])
    assert site.serve(paper, path).status == 404
    site.edition = 1
    assert site.serve(paper, path).status == 200


# Validators


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/town/", {"ETag", "Last-Modified"}),
        ("/business/", {"ETag"}),
        ("/science/", {"Last-Modified"}),
        ("/sport/", set()),
        ("/feed.xml", {"ETag", "Last-Modified"}),
    ],
)
def test_a_page_that_has_not_changed_is_not_sent_again(path: str, names: set[str]) -> None:
    url = BASES["courier"] + path
    first = serve(url)
    assert dict(first.headers).keys() == names
    asked = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}
    for name, value in first.headers:
        again = serve(url, 0, {asked[name]: value})
        assert (again.status, again.body) == (304, b"")
        assert again.headers == first.headers
        assert serve(url, 1, {asked[name]: value}).status == 200


def test_the_tag_counts_more_than_the_time() -> None:
    served = Served(b"new", validators="both", modified=stories()[0].moment)
    time = dict(conditional(served, {}).headers)["Last-Modified"]
    asked = {"if-none-match": '"old"', "if-modified-since": time}
    assert conditional(served, asked).status == 200
    assert conditional(served, {"if-modified-since": time}).status == 304
    assert conditional(served, {"if-modified-since": "yesterday"}).status == 200


# Feeds, sitemaps, robots.txt


def texts_of(url: str, tag: str) -> list[str]:
    body = serve(url, 1).body
    root = ElementTree.fromstring(gzip.decompress(body) if url.endswith(".gz") else body)
    return [node.text or "" for node in root.iter(tag)]


SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.mark.parametrize(("paper", "path"), [("courier", "/feed.xml"), ("evening", "/rss.xml")])
def test_home_pages_announce_feeds_of_the_newest_articles(paper: str, path: str) -> None:
    assert BASES[paper] + path in reading(BASES[paper] + "/").feeds
    found = texts_of(BASES[paper] + path, "link")[1:]
    known = newsroom(1).stories()
    moments = [known[url].moment for url in found]
    assert len(found) == 10
    assert moments == sorted(moments, reverse=True)
    assert known[found[0]].edition == 1


def test_a_section_has_an_atom_feed_with_relative_links() -> None:
    url = BASES["courier"] + "/science/atom.xml"
    root = ElementTree.fromstring(serve(url).body)
    links = [node.attrib["href"] for node in root.iterfind(f"{ATOM}entry/{ATOM}link")]
    known = newsroom().stories()
    assert [known[urljoin(url, link)].section for link in links] == ["science"] * 10


def test_robots_txt_names_an_index_of_sitemaps() -> None:
    robots = serve(BASES["courier"] + "/robots.txt").body.decode()
    assert "Disallow: /admin/\n" in robots
    index = robots.partition("Sitemap: ")[2].strip()
    parts = texts_of(index, f"{SITEMAP}loc")
    assert [url.rpartition("/")[2] for url in parts] == [
        *("sitemap-pages.xml", "sitemap-stories.xml.gz", "sitemap-news.xml")
    ]
    pages, packed, news = (texts_of(url, f"{SITEMAP}loc") for url in parts)
    known = newsroom(1).stories()
    assert {known[url].section for url in packed} == {"business", "sport"}
    assert len(packed) == 42
    assert all(url in known for url in news)
    assert all(serve(url).status == 200 for url in pages)


def test_a_sitemap_may_be_where_nothing_names_it() -> None:
    assert b"Sitemap" not in serve(BASES["evening"] + "/robots.txt").body
    found = texts_of(BASES["evening"] + "/sitemap.xml", f"{SITEMAP}loc")
    assert {newsroom(1).stories()[url].section for url in found} == {"city"}
    assert serve(BASES["digest"] + "/sitemap.xml").status == 404


# Jumps, scripts, traps


def test_jump_links_lead_to_articles_of_other_papers() -> None:
    links = [link.url for link in reading(BASES["digest"] + "/").links if "/link?" in link.url]
    targets = [serve(url).location for url in links]
    assert len(targets) == 8
    assert {newsroom().stories()[url].paper for url in targets} == {"courier", "evening"}
    assert sum("url=a1" in url for url in links) == 4


def test_the_jump_service_leads_nowhere_else() -> None:
    abused = "/link?url=a1aHR0cDovL2V4YW1wbGUub3JnLw"  # http://example.org/
    assert serve(BASES["digest"] + abused).status == 404


def test_a_section_is_empty_without_its_script() -> None:
    known = plain_stories("live", 0)
    page = reading(BASES["courier"] + "/live/")
    assert (page.links, page.all_links) == ((), ())
    for url in known:
        assert text_of(serve(url)) == text_of(serve(BASES["courier"] + "/live/"))
    assert len(known) == 6


def test_the_script_gets_the_fields_of_each_article() -> None:
    data = serve(BASES["courier"] + "/live/api/list.json")
    assert data.content_type == "application/json"
    for url, story in plain_stories("live", 0).items():
        served = serve(url.replace("/live/", "/live/api/") + ".json")
        assert story.title in served.body.decode()
        assert story.published in served.body.decode()
        assert story.path in data.body.decode()


def test_the_calendar_has_no_end() -> None:
    url = BASES["courier"] + "/calendar/2025/10"
    for _ in range(30):
        served = serve(url)
        assert served.status == 200
        url = max(link for link in links_of(url, served) if re.search(r"/\d{4}/\d\d$", link))
    assert url.endswith("/calendar/2028/04")


def test_some_pages_are_too_much() -> None:
    assert len(serve(BASES["courier"] + "/archive/complete.html").body) > COMPLETE_BYTES
    excess = find_excess(serve(BASES["courier"] + "/puzzles/labyrinth.html").body)
    assert excess is not None
    assert excess.limit == "depth"


def test_members_have_to_log_in() -> None:
    for name in ("courier", "evening"):
        assert serve(BASES[name] + "/members/").location == "/login"
        assert b'type="password"' in serve(BASES[name] + "/login").body


def test_old_addresses_lead_to_new_ones() -> None:
    for path, target in (("/money/", "/business/"), ("/town", "/town/"), ("/index.html", "/")):
        served = serve(BASES["courier"] + path)
        assert (served.status, served.location) == (301, target)


def test_pictures_are_pictures() -> None:
    image = next(iter(plain_stories("town", 0).values())).image
    served = serve(BASES["courier"] + image)
    assert served.content_type == "image/png"
    assert served.body.startswith(b"\x89PNG")


# The server


class Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes


def ask(url: str, method: str = "GET", headers: Mapping[str, str] = {}) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, url.removeprefix(f"http://{parts.netloc}"), None, headers)
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def server() -> Iterator[NewsroomServer]:
    with NewsroomServer() as running:
        yield running


@pytest.fixture(autouse=True)
def mended(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "server" in request.fixturenames:
        running = request.getfixturevalue("server")
        running.mend()
        running.publish(0)
        running.forget()


def test_the_server_sends_what_the_newsroom_serves(server: NewsroomServer) -> None:
    site = server.newsroom
    for path in ("/", "/town/", "/money/", "/nothing", "/sitemap-stories.xml.gz"):
        wanted, got = site.serve("courier", path), ask(site.url("courier", path))
        assert (got.status, got.body) == (wanted.status, wanted.body)
        assert got.headers["Content-Type"] == wanted.content_type
        assert got.headers["ETag"] == dict(wanted.headers).get("ETag")
    assert ask(site.url("courier", "/money/")).headers["Location"] == "/business/"
    assert ask(server.entries[1], "HEAD").headers["Content-Length"] != "0"


def test_the_server_logs_each_request(server: NewsroomServer) -> None:
    tag = ask(server.entries[0]).headers["ETag"]
    again = ask(server.entries[0], "GET", {"If-None-Match": tag})
    ask(server.newsroom.url("digest", "/link?url=x"))
    assert (again.status, again.body) == (304, b"")
    assert [(hit.host, hit.path, hit.status) for hit in server.hits()] == [
        ("127.0.0.1", "/", 200),
        ("127.0.0.1", "/", 304),
        ("127.0.0.3", "/link?url=x", 404),
    ]


def test_the_server_goes_on_to_the_next_edition(server: NewsroomServer) -> None:
    before = server.newsroom.stories().keys()
    server.publish(1)
    new = server.newsroom.stories().keys() - before
    assert len(new) == 11
    assert {ask(url).status for url in new} == {200}
    with pytest.raises(ConfigError, match="edition 9"):
        server.publish(9)


def test_a_path_can_fail(server: NewsroomServer) -> None:
    url = server.newsroom.url("courier", "/business/?page=2")
    server.fail("courier", "/business/?page=2", 500)
    server.fail("evening", "/")
    assert [ask(each).status for each in (url, *server.entries)] == [500, 200, 503, 200]
    server.mend()
    assert ask(url).status == 200


def test_a_paper_can_be_down(server: NewsroomServer) -> None:
    server.go_down("courier")
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server.entries[0])
    assert ask(server.entries[1]).status == 200
    server.mend()
    assert ask(server.entries[0]).status == 200
    assert [hit.status for hit in server.hits()] == [0, 200, 200]


def test_some_papers_can_be_served_alone() -> None:
    with NewsroomServer(2, papers=["courier"]) as running:
        assert running.newsroom.stories().keys() == {
            running.newsroom.url("courier", story.path)
            for story in stories(2)
            if story.paper == "courier"
        }
        assert b"127.0.0.2" not in ask(running.entries[0]).body


def test_papers_can_be_served_on_one_host() -> None:
    with NewsroomServer(by_port=True) as running:
        site = running.newsroom
        assert [urlsplit(entry).hostname for entry in running.entries] == ["127.0.0.1"] * 3
        assert [*site.bases.values()] == [entry.rstrip("/") for entry in running.entries]
        for paper in PAPERS:
            assert ask(site.url(paper.name)).body == site.serve(paper.name, "/").body
        with (
            pytest.raises(WeftError, match=f"port {running.port - 1} is in use"),
            NewsroomServer(by_port=True, port=running.port - 1),
        ):
            pass

# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Feeds of all kinds, whole and broken, and what only pretends to be one."""

import gzip
import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.boards.feeds import Feed, FeedEntry, looks_like_feed, read_feed
from weft.boards.feeds.entries import MAX_ENTRIES
from weft.errors import PageError

URL = "https://harbour.example/news/feed.xml"
STORY = "https://harbour.example/news/ferry"
#: CPU seconds for the worst that a feed can cost; the limits of its size keep it at half of that.
LIMIT_S = 6.0

SIMPLIFIED = "渡轮在风暴后恢复通航，港口的人们都很高兴"
TRADITIONAL = "渡輪在風暴後恢復通航，港口的人們都很高興"
RSS = """<?xml version="1.0" encoding="utf-8"?>
<?xml-stylesheet type="text/xsl" href="/feed.xsl"?>
<!-- not the <feed> -->
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>Harbour</title><link>https://harbour.example/</link><ttl>30</ttl>
<atom:link rel="self" href="https://harbour.example/news/feed.xml"/>
<atom:link rel="next" href="?page=2"/>
<image><title>Logo</title><link>https://harbour.example/logo</link></image>
<item><media:title>Picture</media:title><title>Ferry &amp; storm</title>
<link> https://harbour.example/news/ferry#top </link>
<pubDate>Thu, 19 Nov 2026 01:49:34 +0800</pubDate>
<source url="https://other.example/feed"><title>Other</title><link>/other</link></source></item>
<item><title><![CDATA[Tides <b>rise</b>]]></title><link><![CDATA[/news/tides?a=1&b=2]]></link>
<dc:date>2026-11-18</dc:date></item>
<item><title>Again</title><link>https://harbour.example/news/ferry</link></item>
<item><title>Mail</title><link>mailto:ann@harbour.example</link></item>
</channel></rss>"""
RDF = """<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
  xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://harbour.example/"><title>Harbour</title>
<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>
<items><rdf:Seq><rdf:li rdf:resource="https://harbour.example/news/ferry"/></rdf:Seq></items>
</channel>
<item rdf:about="https://harbour.example/news/ferry"><title>Ferry</title>
<link>https://harbour.example/news/ferry</link><dc:date>2026-11-19T01:49:34Z</dc:date></item>
<item rdf:about="https://harbour.example/news/tides"><title>Tides</title></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://harbour.example/">
<title>Harbour</title><id>urn:harbour</id><link rel="next" href="/atom?page=2"/>
<entry xml:base="news/"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Ferry
<i>returns</i></div></title><id>urn:ferry</id>
<link rel="replies" href="ferry/comments"/><link rel="self" href="ferry.atom"/>
<link rel="alternate" type="application/json" href="ferry.json"/>
<link rel="alternate" type="text/html" href="ferry"/>
<updated>2026-11-19T09:00:00Z</updated><published>2026-11-18T12:30:00.5+08:00</published>
<source><id>x</id><link href="/source"/><title>Source</title></source></entry>
<entry><title type="html">Tides &lt;b&gt;rise&lt;/b&gt;</title>
<link href="/news/tides"/><updated>2026-11-17</updated></entry>
<entry><title>No link</title><id>https://harbour.example/news/winds</id></entry>
<entry><title>Nothing</title><id>tag:harbour.example,2026:1</id></entry></feed>"""
JSON = {
    "version": "https://jsonfeed.org/version/1.1",
    "next_url": "feed.json?page=2",
    "items": [
        {"id": "1", "url": "/news/ferry", "title": "Ferry", "date_published": "2026-11-19T01:49Z"},
        {"id": "2", "external_url": "https://other.example/a", "date_modified": "2026-11-18"},
        {"id": "https://harbour.example/news/tides", "url": None, "title": 7},
        {"id": 4},
        "junk",
    ],
}


def read(feed: str | bytes, url: str = URL) -> Feed:
    return read_feed(feed.encode() if isinstance(feed, str) else feed, url)


def items(written: str) -> str:
    return f"<rss version='2.0'><channel>{written}</channel></rss>"


def item(written: str) -> str:
    return items(f"<item>{written}</item>")


def urls(feed: str | bytes) -> list[str]:
    return [entry.url for entry in read(feed).entries]


def test_rss_is_read_with_its_dates_its_ttl_and_the_next_page() -> None:
    assert read(RSS) == Feed(
        entries=(
            FeedEntry(STORY, "Ferry & storm", "2026-11-19T01:49:34+08:00"),
            FeedEntry("https://harbour.example/news/tides?a=1&b=2", "Tides rise", "2026-11-18"),
        ),
        ttl_s=1_800,
        next="https://harbour.example/news/feed.xml?page=2",
    )


def test_rss_of_rdf_is_read_with_its_update_period() -> None:
    assert read(RDF) == Feed(
        entries=(
            FeedEntry(STORY, "Ferry", "2026-11-19T01:49:34+00:00"),
            FeedEntry("https://harbour.example/news/tides", "Tides"),
        ),
        ttl_s=6 * 3_600,
    )


def test_atom_is_read_with_the_page_of_each_entry() -> None:
    assert read(ATOM) == Feed(
        entries=(
            FeedEntry(STORY, "Ferry returns", "2026-11-18T12:30:00+08:00"),
            FeedEntry("https://harbour.example/news/tides", "Tides rise", "2026-11-17"),
            FeedEntry("https://harbour.example/news/winds", "No link"),
        ),
        next="https://harbour.example/atom?page=2",
    )


def test_json_feed_is_read() -> None:
    assert read(json.dumps(JSON)) == Feed(
        entries=(
            FeedEntry(STORY, "Ferry", "2026-11-19T01:49:00+00:00"),
            FeedEntry("https://other.example/a", "", "2026-11-18"),
            FeedEntry("https://harbour.example/news/tides"),
        ),
        next="https://harbour.example/news/feed.json?page=2",
    )


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("<guid>https://harbour.example/a</guid>", "https://harbour.example/a"),
        ("<link/><guid isPermaLink='true'>http://h.example/a</guid>", "http://h.example/a"),
        ("<link>/b</link><guid>http://h.example/a</guid>", "https://harbour.example/b"),
        ("<link href='/b'/>", "https://harbour.example/b"),
        ("<a:link xmlns:a='http://www.w3.org/2005/Atom' href='/b'/>", "https://harbour.example/b"),
        (
            "<link>https://clicks.example/1</link><f:origLink"
            " xmlns:f='http://rssnamespace.org/feedburner/ext/1.0'>http://h.example/a</f:origLink>",
            "http://h.example/a",
        ),
        (
            "<link>https://h.example/1</link><feedburner:origLink>junk</feedburner:origLink>",
            "https://h.example/1",
        ),
    ],
)
def test_the_url_of_an_entry_is_found_where_it_stands(written: str, url: str) -> None:
    assert urls(item(written)) == [url]


@pytest.mark.parametrize(
    "written",
    [
        "<guid isPermaLink='false'>https://harbour.example/a</guid>",
        "<guid>1234</guid>",
        "<link>javascript:x()</link>",
        "<link>http://[::1/</link>",
        f"<link>https://harbour.example/{'a' * 5_000}</link>",
        "<enclosure url='https://harbour.example/a.mp3'/>",
        "<image><link>https://harbour.example/a</link></image>",
    ],
)
def test_what_is_no_page_is_no_entry(written: str) -> None:
    assert urls(item(written)) == []


@pytest.mark.parametrize(
    "written",
    [
        "<title>Ferry & storm</title><link>/news/ferry?a=1&copy=2</link>",
        "<title>Ferry &nbsp;&amp; storm</title><link>/news/ferry?a=1&amp;copy=2</link>",
        "<title>Ferry <br>&amp; storm</title><link>/news/ferry?a=1&amp;copy=2</link>",
        "<title>Ferry &amp; storm<link>/news/ferry?a=1&amp;copy=2</link>",
        "<title>Ferry &amp; storm</title><description>a < b <p>c</i></description>"
        "<link>/news/ferry?a=1&amp;copy=2</link>",
        "<x:y z=1>\x01</x:y></div><title>Ferry &amp; storm</title>"
        "<link><![CDATA[/news/ferry?a=1&copy=2]]></link>",
        "<undeclared:title>Else</undeclared:title><media:title>Else</media:title>"
        "<title>Ferry &amp; storm</title><link>/news/ferry?a=1&amp;copy=2</link>",
        "<TITLE>Ferry &amp; storm</TITLE><Link>/news/ferry?a=1&amp;copy=2</Link>",
    ],
)
def test_broken_xml_is_read_like_whole_xml(written: str) -> None:
    feed = item("<link>/1</link>") + item(written) + item("<link>/3</link>")
    feed = feed.replace("</channel></rss><rss version='2.0'><channel>", "")
    first, second, third = read(feed).entries
    assert second == FeedEntry(f"{STORY}?a=1&copy=2", "Ferry & storm")
    assert (first.url, third.url) == ("https://harbour.example/1", "https://harbour.example/3")


def test_a_feed_that_was_cut_gives_what_is_whole() -> None:
    feed = items("<item><link>/1</link></item><item><link>/2</link><guid>/2</guid></item>")
    cut = feed[: feed.index("/2</link>") + 1]
    assert urls(cut) == ["https://harbour.example/1"]


def test_items_that_are_not_closed_are_entries_of_their_own() -> None:
    feed = "<rss><channel>" + "".join(f"<item><link>/{n}</link>" for n in range(400))
    assert urls(feed) == [f"https://harbour.example/{n}" for n in range(400)]


def test_a_broken_atom_feed_with_prefixes_is_read() -> None:
    feed = (
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='/1'>"
        "<a:title>One & all</a:title></a:entry></a:feed>"
    )
    assert read(feed).entries == (FeedEntry("https://harbour.example/1", "One & all"),)


@pytest.mark.parametrize("encoding", ["gbk", "utf-8", "utf-16", "utf-8-sig", "big5"])
@pytest.mark.parametrize("declared", ["", "utf-8", "gb2312", "x-junk"])
def test_the_encoding_is_what_it_is_and_not_what_is_declared(encoding: str, declared: str) -> None:
    is_traditional = encoding == "big5"
    title = TRADITIONAL if is_traditional else SIMPLIFIED
    head = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    feed = head + items(f"<item><title>{title}</title><link>/1</link></item>")
    assert read(feed.encode(encoding)).entries[0].title == title


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Thu, 19 Nov 2026 01:49:34 EST", "2026-11-19T01:49:34-05:00"),
        ("19 Nov 26 01:49 GMT", "2026-11-19T01:49:00+00:00"),
        ("2026-11-19 01:49:34 +0800", "2026-11-19T01:49:34+08:00"),
        ("2026年11月19日 10:20", "2026-11-19T10:20:00"),
        ("20261119", "2026-11-19"),
        ("0001-01-01T00:00:00Z", ""),
        ("Thu, 31 Feb 2026 01:00:00 GMT", ""),
        ("soon", ""),
    ],
)
def test_dates_are_read_as_people_write_them(written: str, date: str) -> None:
    assert read(item(f"<link>/1</link><pubDate>{written}</pubDate>")).entries[0].published == date


@pytest.mark.parametrize(
    ("written", "ttl_s"),
    [("60", 3_600), ("-1", 0), ("9" * 9, 365 * 86_400), ("9" * 99, 0), ("²", 0), ("", 0)],
)
def test_a_ttl_is_believed_if_it_makes_sense(written: str, ttl_s: int) -> None:
    assert read(items(f"<ttl>{written}</ttl>")).ttl_s == ttl_s


def test_an_empty_feed_is_a_feed() -> None:
    assert read(items("")) == Feed()


def test_a_feed_that_names_itself_as_the_next_page_has_none() -> None:
    assert read(json.dumps({**JSON, "next_url": URL})).next == ""
    assert read(RSS.replace('"?page=2"', f'"{URL}"')).next == ""


def test_no_more_entries_than_allowed_are_read() -> None:
    feed = "".join(f"<item><link>/{n}</link></item>" for n in range(MAX_ENTRIES + 10))
    assert len(read(items(feed)).entries) == MAX_ENTRIES


def test_a_packed_feed_is_read() -> None:
    body = gzip.compress(RSS.encode())
    assert looks_like_feed(body, "application/gzip")
    assert len(read(body).entries) == 2


@pytest.mark.parametrize(
    ("feed", "kind"),
    [
        (RSS, "text/html"),
        (f"\n\n\ufeff{RSS}", ""),
        (RDF, "application/octet-stream"),
        (ATOM, "text/plain"),
        ("<atom:feed xmlns:atom='http://www.w3.org/2005/Atom'/>", "text/xml"),
        ("<feed/>", "application/atom+xml; charset=utf-8"),
        ("<!DOCTYPE rss PUBLIC 'x' 'y' [<!ENTITY a 'b'>]><rss>", "text/xml"),
        (json.dumps(JSON), "application/json"),
        (json.dumps(JSON, sort_keys=True).replace("/", "\\/"), "text/plain"),
        (json.dumps({"items": [{"text": "x" * 50_000}], "version": JSON["version"]}), ""),
    ],
)
def test_feeds_are_known_whatever_their_type(feed: str, kind: str) -> None:
    assert looks_like_feed(feed.encode(), kind)


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><p>How to write <rss version='2.0'> and <feed>",
        "<html xmlns='http://www.w3.org/2005/Atom'><rss version='2.0'>",
        "<?xml version='1.0'?><!-- <rss> --><html><channel><item>",
        "<p>An <rss> file</p>",
        "How to write <rss version='2.0'>",
        "<rssx><item/></rssx>",
        "<feed><milk/></feed>",
        "<rdf:RDF xmlns:rdf='x'><foaf:Person/></rdf:RDF>",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>",
        '{"text": "see https://jsonfeed.org/version/1"}',
        '<script>{"version": "https://jsonfeed.org/version/1"}</script>',
        "",
        "\0",
        "<!--" * 5_000,
    ],
)
def test_what_is_no_feed_is_none_and_is_not_read(page: str) -> None:
    assert not looks_like_feed(page.encode(), "application/xml")
    if "<feed>" not in page[:6]:
        with pytest.raises(PageError):
            read(page)


def _bomb() -> str:
    entities = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12))
    return f'<!DOCTYPE rss [<!ENTITY a "lol">{entities}]>' + item(
        "<title>&m;</title><link>/1</link>"
    )


HOSTILE: dict[str, Any] = {
    "entities": _bomb,
    "deep": lambda: "<rss><channel>" + "<x>" * 100_000 + "<item><link>/1</link></item>",
    "deep-and-closed": lambda: items("<x>" * 60_000 + "</x>" * 60_000),
    "ends": lambda: "<rss>" + "<a>" * 100_000 + "</b>" * 100_000,
    "cdata": lambda: "<rss>" + "<![CDATA[" * 200_000,
    "comments": lambda: "<rss>" + "<!-- " * 200_000,
    "quotes": lambda: "<rss>" + "<a b='" * 200_000,
    "attributes": lambda: "<rss " + "".join(f"a{n}='' " for n in range(200_000)) + ">",
    "escapes": lambda: item("<title>" + "&lt;" * 500_000 + "&</title><link>/1</link>"),
    "bases": lambda: "<rss>" + "<a xml:base='http://h.example/'>" * 50_000,
    "unclosed-items": lambda: "<rss>" + "<item><link>javascript:x</link>" * 50_000,
    "noise": lambda: "<rss>" + "".join(map(chr, range(0x250))) * 5_000,
    "deep-json": lambda: '{"version": "https://jsonfeed.org/version/1", "items": ' + "[" * 100_000,
    "digits": lambda: '{"version": "https://jsonfeed.org/version/1", "items": ' + "9" * 1_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_feed_costs_a_bounded_time(name: str) -> None:
    body = HOSTILE[name]().encode()
    begun_s = time.process_time()
    looks_like_feed(body, "text/xml")
    assert time.process_time() - begun_s < 0.1
    with suppress(PageError):
        read_feed(body, URL)
    assert time.process_time() - begun_s < LIMIT_S


def test_entities_are_never_expanded_and_files_never_loaded(tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    written = f"<!ENTITY a SYSTEM '{secret.as_uri()}'><!ENTITY b 'lol'>"
    entry = "<title>&a;&b;</title><link>/1</link>"
    for feed in (
        f"<!DOCTYPE rss [{written}]>{item(entry)}",
        item(f"<!DOCTYPE x [{written}]>{entry}"),
    ):
        (found,) = read(feed).entries
        assert found.title == "&a;&b;"


@pytest.mark.parametrize(
    "body",
    [
        b"<rss>" + b"x" * 20_000_000,
        gzip.compress(b"<rss>" + b"x" * 20_000_000),
        b"<rss>" + b"<a/>" * 300_000,
        b"\x1f\x8bjunk",
    ],
    ids=["large", "packed", "elements", "junk"],
)
def test_a_feed_that_is_too_large_or_junk_is_refused(body: bytes) -> None:
    with pytest.raises(PageError, match="not read"):
        read_feed(body, URL)


SEEDS = [
    *(feed.encode() for feed in (RSS, RDF, ATOM, json.dumps(JSON))),
    RSS.encode("utf-16"),
]
POISON = [b"<", b">", b"&", b"]]>", b"<![CDATA[", b"<!--", b"<item>", b"</item>", b"</", b"'", b'"',
          b"\0", b"\xff", b"&#0;", b"&#xD800;", b"&#99999999;", b"\\ud800", b"xml:base='//['",
          b"<?", b"<!DOCTYPE a [", b"</rss>", b"<rss", b"{", b"9" * 40]  # fmt: skip


@st.composite
def broken_feeds(draw: st.DrawFn) -> bytes:
    body = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(body)))
        end = place + draw(st.integers(0, 40))
        body = body[:place] + draw(st.sampled_from(POISON) | st.binary(max_size=8)) + body[end:]
    return body


@settings(max_examples=150, deadline=None)
@given(broken_feeds() | st.binary(max_size=200), st.sampled_from([URL, "", "junk", "http://["]))
def test_only_page_errors_are_raised(body: bytes, url: str) -> None:
    looks_like_feed(body, "text/xml")
    try:
        feed = read_feed(body, url)
    except PageError:
        return
    for entry in feed.entries:
        assert entry.url.startswith(("http://", "https://"))
        entry.title.encode()

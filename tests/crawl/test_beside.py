"""CSV, odd encodings, feeds on servers and the order of settings are as in plain Scrapy."""

import codecs
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from beside import assert_same, crawl_beside
from reading import PriceList, TextReader
from walking import Walker

from launchers.ftp import FtpServer
from launchers.s3 import BUCKET, KEY, SECRET, S3Server
from rawserver import RawServer, Script
from servers import started
from weft.testing import SiteServer

# Files and texts


@pytest.fixture(params=["embedded", "redis"])
def store(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of a store."""
    if request.param == "embedded":
        return {}
    return {"WEFT_STORE": request.getfixturevalue("redis_server").url}


def answer(body: bytes, content_type: str = "") -> Script:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n"
    if content_type:
        head += f"Content-Type: {content_type}\r\n"
    return Script([f"{head}\r\n".encode() + body])


def test_a_csv_feed_gives_the_same_rows(store: dict[str, Any], tmp_path: Path) -> None:
    rows = (
        "'Tea; green';EUR 4.20;/page?tea\r\n"
        "Käse;EUR 7.00;/page?cheese\r\n"
        "too;short\r\n"
        "'''Quoted''';EUR 1.00;/page?quoted\r\n"
    )
    scripts = {
        "prices.csv": answer(rows.encode("latin-1"), "text/csv; charset=latin-1"),
        "page": answer(b"<p>a page</p>", "text/html"),
    }
    with RawServer(scripts) as server:
        urls = [f"{server.url}prices.csv"]
        plain, with_weft = crawl_beside(tmp_path, PriceList, store, start_urls=urls)
    assert_same(plain, with_weft, [9])
    names = [item["name"] for item in with_weft[0].items if "name" in item]
    assert sorted(names) == ["'Quoted'", "Käse", "Tea; green"]


CHINESE = "编码 第一页 ㄅㄆㄇ"
JAPANESE = "日本語のページ"


def page(text: str, meta: str = "", *, has_link: bool = True) -> str:
    link = f"<a href='/linked?q={text.split(' ')[0]}'>next</a>" if has_link else ""
    return f"<html><head>{meta}<title>{text}</title></head><body><p>{text}</p>{link}</body></html>"


def declared(charset: str) -> str:
    return f"<meta charset='{charset}'>"


ODD_PAGES = {
    "gb18030": answer(page(CHINESE).encode("gb18030"), "text/html; charset=gb18030"),
    "gb2312": answer(page(CHINESE).encode("gb18030"), "text/html; charset=gb2312"),
    "gbk-meta": answer(page(CHINESE, declared("gbk")).encode("gb18030"), "text/html"),
    "sjis": answer(page(JAPANESE).encode("shift_jis"), "text/html; charset=Shift_JIS"),
    "sjis-meta": answer(page(JAPANESE, declared("shift_jis")).encode("shift_jis"), "text/html"),
    # In Scrapy a request has the encoding of the page, and in this one no header could be sent.
    "utf-16": answer(
        codecs.BOM_UTF16_LE + page(JAPANESE, has_link=False).encode("utf-16-le"), "text/html"
    ),
    "utf-16-be": answer(
        codecs.BOM_UTF16_BE + page(CHINESE, has_link=False).encode("utf-16-be"), "text/html"
    ),
    "bom-beats-header": answer(
        codecs.BOM_UTF8 + page(CHINESE).encode(), "text/html; charset=iso-8859-1"
    ),
    "header-beats-meta": answer(
        page(JAPANESE, declared("utf-8")).encode("euc-jp"), "text/html; charset=euc-jp"
    ),
    "wrong": answer(page(JAPANESE).encode("shift_jis"), "text/html; charset=utf-8"),
    "unknown": answer(page(CHINESE).encode(), "text/html; charset=klingon"),
    "missing": answer(page("smörgåsbord").encode("cp1252"), "text/html"),
    "missing-utf-8": answer(page(CHINESE).encode(), "text/html"),
    "xml": answer(
        f"<?xml version='1.0' encoding='euc-kr'?><title>{'한국어'}</title>".encode("euc-kr"),
        "text/xml",
    ),
    "broken": answer(page(CHINESE).encode()[:-40] + b"\xff\xfe\x80", "text/html; charset=utf-8"),
    "linked": answer(b"<p>linked</p>", "text/html"),
}


def test_odd_encodings_are_read_the_same(store: dict[str, Any], tmp_path: Path) -> None:
    with RawServer(ODD_PAGES) as server:
        urls = [f"{server.url}{name}" for name in ODD_PAGES if name != "linked"]
        plain, with_weft = crawl_beside(tmp_path, TextReader, store, urls=urls)
    found = {item["url"].rpartition("/")[2]: item for item in with_weft[0].items}
    assert found["gb2312"]["title"] == found["gbk-meta"]["title"] == CHINESE
    assert found["sjis"]["title"] == found["utf-16"]["title"] == JAPANESE
    assert_same(plain, with_weft, [len(plain[0].items)])


# Feeds on servers


@pytest.fixture(scope="module")
def ftp() -> Iterator[FtpServer]:
    with started(FtpServer) as server:
        yield server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with started(S3Server) as server:
        yield server


def check_feeds(
    address: str, read: Callable[[str], bytes], site: SiteServer, directory: Path, **settings: Any
) -> None:
    """`address`: that of a feed, with the name of the run left out."""
    feeds = {
        f"{address}-{kind}": {"format": kind, "overwrite": True, "fields": ["url", "status"]}
        for kind in ("jsonlines", "csv")
    }
    settings |= {"FEEDS": {uri.replace("NAME", "%(run)s"): own for uri, own in feeds.items()}}
    settings["FEED_URI_PARAMS"] = "beside.name_of_run"
    plain, with_weft = crawl_beside(directory, Walker, settings, start_urls=[site.url])
    assert_same(plain, with_weft, [10])
    for kind in ("jsonlines", "csv"):
        ours, theirs = (Counter(read(f"{name}-{kind}").splitlines()) for name in ("weft", "plain"))
        assert ours == theirs
        assert ours.total() == (10 if kind == "jsonlines" else 11)
    counted = {name: value for name, value in plain[0].stats.items() if "feedexport" in name}
    assert len(counted) == 1
    assert counted.items() <= with_weft[0].stats.items()


def test_feeds_on_an_ftp_server_are_the_same(
    ftp: FtpServer, site: SiteServer, tmp_path: Path
) -> None:
    address = ftp.address("feeds/NAME")
    (ftp.files / "feeds").mkdir()  # two feeds of Scrapy would make it at the same time
    check_feeds(address, lambda name: (ftp.files / "feeds" / name).read_bytes(), site, tmp_path)


def test_feeds_on_s3_are_the_same(s3: S3Server, site: SiteServer, tmp_path: Path) -> None:
    def read(name: str) -> bytes:
        body: bytes = s3.client.get_object(Bucket=BUCKET, Key=f"feeds/{name}")["Body"].read()
        return body

    check_feeds(
        f"s3://{BUCKET}/feeds/NAME",
        read,
        site,
        tmp_path,
        AWS_ENDPOINT_URL=s3.endpoint,
        AWS_ACCESS_KEY_ID=KEY,
        AWS_SECRET_ACCESS_KEY=SECRET,
        AWS_REGION_NAME="us-east-1",
    )

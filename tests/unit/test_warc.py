"""WARC files, as warcio reads them."""

import gzip
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from disks import fill, small_disk_at
from warcs import read_pages, read_warc
from weft.errors import ConfigError, StoreError, StoreFullError
from weft.sinks.archive import RawPage, is_archive, make_archive
from weft.sinks.base import SinkConfig
from weft.sinks.warc.archive import WarcArchive, whole_members_bytes
from weft.testing.clock import FakeClock

AT_MS = 1_800_000_000_123
PAGE = RawPage("http://a.example/1?b=2", 200, ((b"Content-Type", b"text/html"),), b"<p>1", AT_MS)


def numbered(number: int, body: bytes = b"<p>") -> RawPage:
    return msgspec.structs.replace(PAGE, url=f"http://a.example/{number}", body=body)


async def store(archive: WarcArchive, *pages: RawPage) -> None:
    await archive.open()
    await archive.store(pages)
    await archive.close()


async def stored(directory: Path, page: RawPage) -> list[Any]:
    """The records of one page."""
    await store(WarcArchive(directory, "job"), page)
    [path] = directory.glob("*.warc.gz")
    return read_warc(path)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# Records


async def test_a_page_is_a_response_and_its_request_after_the_info(tmp_path: Path) -> None:
    page = msgspec.structs.replace(
        PAGE, ip="127.0.0.9", method="POST", request_headers=((b"Accept", b"*/*"),)
    )
    page = msgspec.structs.replace(page, request_body=b"q=1")
    info, response, request = await stored(tmp_path, page)
    assert info.type == "warcinfo"
    assert b"software: weft/" in info.body
    assert b"isPartOf: job\r\n" in info.body
    [path] = tmp_path.iterdir()
    assert info.fields["WARC-Filename"] == path.name
    assert response.url == request.url == page.url
    assert response.fields["WARC-Date"] == "2027-01-15T08:00:00.123Z"
    assert response.fields["WARC-IP-Address"] == "127.0.0.9"
    assert request.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]
    assert response.fields["WARC-Payload-Digest"].startswith("sha1:")
    assert (response.status, response.body) == (200, b"<p>1")
    assert response.headers == [("Content-Type", "text/html")]
    assert request.first_line == "POST /1?b=2 HTTP/1.1"
    assert request.headers == [
        ("Host", "a.example"),
        ("Content-Length", "3"),
        ("Accept", "*/*"),
    ]
    assert request.body == b"q=1"


async def test_records_are_of_version_1_1_and_a_gzip_member_each(tmp_path: Path) -> None:
    await stored(tmp_path, PAGE)
    [path] = tmp_path.iterdir()
    raw = path.read_bytes()
    assert gzip.decompress(raw).startswith(b"WARC/1.1\r\n")
    assert gzip.decompress(raw).count(b"WARC/1.1\r\n") == 3
    assert len(ends_of_members(raw)) == 4


async def test_bytes_stay_as_they_are(tmp_path: Path) -> None:
    headers = ((b"X-Odd", b"caf\xe9 \xff"), (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"))
    body = bytes(range(256)) * 40
    page = msgspec.structs.replace(PAGE, headers=headers, body=body)
    _, response, _ = await stored(tmp_path, page)
    assert response.body == body
    [path] = tmp_path.iterdir()
    assert b"\r\nX-Odd: caf\xe9 \xff\r\n" in gzip.decompress(path.read_bytes())
    assert [value for name, value in response.headers if name == "Set-Cookie"] == ["a=1", "b=2"]


async def test_headers_that_are_not_true_of_the_body_get_another_name(tmp_path: Path) -> None:
    headers = (
        (b"Content-Encoding", b"gzip"),
        (b"Content-Length", b"17"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Content-Language", b"en"),
    )
    _, response, _ = await stored(tmp_path, msgspec.structs.replace(PAGE, headers=headers))
    assert [name for name, _ in response.headers] == [
        "X-Crawler-Content-Encoding",
        "X-Crawler-Content-Length",
        "X-Crawler-Transfer-Encoding",
        "Content-Language",
    ]


async def test_true_headers_stay(tmp_path: Path) -> None:
    body = gzip.compress(b"hello")
    headers = ((b"Content-Encoding", b"gzip"), (b"Content-Length", b"%d" % len(body)))
    page = msgspec.structs.replace(PAGE, headers=headers, body=body)
    _, response, _ = await stored(tmp_path, page)
    assert [name for name, _ in response.headers] == ["Content-Encoding", "Content-Length"]
    assert gzip.decompress(response.body) == b"hello"


async def test_an_answer_without_a_body_speaks_of_another(tmp_path: Path) -> None:
    headers = ((b"Content-Length", b"5000"), (b"Content-Encoding", b"gzip"))
    page = msgspec.structs.replace(PAGE, headers=headers, body=b"", method="HEAD")
    _, response, request = await stored(tmp_path, page)
    assert [name for name, _ in response.headers] == ["Content-Length", "Content-Encoding"]
    assert request.first_line == "HEAD /1?b=2 HTTP/1.1"


async def test_no_password_is_archived(tmp_path: Path) -> None:
    page = msgspec.structs.replace(
        PAGE,
        url="http://me:secret@a.example/",
        request_headers=((b"Authorization", b"Basic c2VjcmV0"), (b"Accept", b"*/*")),
    )
    _, response, request = await stored(tmp_path, page)
    assert response.url == "http://***@a.example/"
    assert request.headers == [("Host", "a.example"), ("Accept", "*/*")]
    [path] = tmp_path.iterdir()
    assert b"ecret" not in gzip.decompress(path.read_bytes())


async def test_line_ends_cannot_make_headers(tmp_path: Path) -> None:
    headers = ((b"Set-Cookie", b"a=1\nX-Fake: 1\r\n\r\nbody"),)
    _, response, _ = await stored(tmp_path, msgspec.structs.replace(PAGE, headers=headers))
    assert response.headers == [("Set-Cookie", "a=1 X-Fake: 1  body")]
    assert response.body == PAGE.body


@pytest.mark.parametrize(
    ("protocol", "line"), [("HTTP/1.0", "HTTP/1.0 404 "), ("h2", "HTTP/2 404 ")]
)
async def test_the_first_line_has_the_protocol_and_no_reason(
    tmp_path: Path, protocol: str, line: str
) -> None:
    page = msgspec.structs.replace(PAGE, status=404, protocol=protocol, truncated="disconnect")
    _, response, _ = await stored(tmp_path, page)
    assert response.first_line.strip() == line.strip()
    assert response.fields["WARC-Truncated"] == "disconnect"


# Files


async def test_files_are_named_and_rotated(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path, "job", max_file_bytes=8_000, clock=FakeClock())
    await archive.open()
    await archive.store([numbered(n, os.urandom(3_500)) for n in range(5)])
    assert [name.endswith(".open") for name in names(tmp_path)] == [False, False, True]
    await archive.store([numbered(5)])
    await archive.close()
    files = names(tmp_path)
    assert len(files) == 3
    assert [name.rpartition("-")[2] for name in files] == [f"{n:05}.warc.gz" for n in range(3)]
    assert all(read_warc(tmp_path / name)[0].type == "warcinfo" for name in files)
    assert [page.url[-1] for page in read_pages(tmp_path)] == list("012345")


async def test_an_archive_that_gets_nothing_makes_no_file(tmp_path: Path) -> None:
    await store(WarcArchive(tmp_path / "new/dir", "job"))
    assert names(tmp_path / "new/dir") == []


async def test_an_archive_can_be_opened_again(tmp_path: Path) -> None:
    archive = WarcArchive(tmp_path, "job")
    await store(archive, numbered(1))
    await store(archive, numbered(2))
    assert len(read_pages(tmp_path)) == 2
    with pytest.raises(StoreError, match="is not open"):
        await archive.store([PAGE])


async def test_workers_write_side_by_side(tmp_path: Path) -> None:
    one, two = (WarcArchive(tmp_path, "job") for _ in range(2))
    await one.open()
    await one.store([numbered(1)])
    await two.open()  # must not take the file of the first for one that was left
    await two.store([numbered(2)])
    await one.store([numbered(3)])
    await one.close()
    await two.close()
    assert len(names(tmp_path)) == 2
    assert sorted(page.url[-1] for page in read_pages(tmp_path)) == ["1", "2", "3"]


async def test_clear_removes_the_pages_of_this_job_only(tmp_path: Path) -> None:
    await store(WarcArchive(tmp_path, "job-2"), numbered(9))
    living = WarcArchive(tmp_path, "job")
    await living.open()
    await living.store([numbered(1)])
    other = WarcArchive(tmp_path, "job")
    await store(other, numbered(2))
    await other.open()
    await other.clear()
    await living.store([numbered(3)])
    await living.clear()
    await living.store([numbered(4)])
    await other.close()
    await living.close()
    assert sorted(page.url[-1] for page in read_pages(tmp_path)) == ["4", "9"]


def leave_open(directory: Path, raw: bytes) -> Path:
    """As a killed worker leaves it."""
    path = directory / "job-20270101000000000-host-7-ab-00000.warc.gz.open"
    path.write_bytes(raw)
    return path


async def complete_file(directory: Path, *pages: RawPage) -> bytes:
    await store(WarcArchive(directory, "job"), *pages)
    [path] = directory.iterdir()
    raw = path.read_bytes()
    path.unlink()
    return raw


def ends_of_members(raw: bytes) -> list[int]:
    lengths = (whole_members_bytes(io.BytesIO(raw[:size])) for size in range(len(raw) + 1))
    return sorted(set(lengths))


async def test_a_file_that_ends_anywhere_is_made_whole(tmp_path: Path) -> None:
    raw = await complete_file(tmp_path, numbered(1), numbered(2))
    ends = ends_of_members(raw)
    assert len(ends) == 6
    for size in [*ends, *(end - 1 for end in ends[1:]), *(end + 1 for end in ends[:-1])]:
        leave_open(tmp_path, raw[:size])
        await store(WarcArchive(tmp_path, "job"))
        kept = max(end for end in ends if end <= size)
        files = names(tmp_path)
        assert len(files) == (1 if kept else 0)
        for name in files:
            assert (tmp_path / name).read_bytes() == raw[:kept]
            assert len(read_warc(tmp_path / name)) == ends.index(kept)
            (tmp_path / name).unlink()


async def test_who_closes_last_takes_up_what_killed_workers_left(tmp_path: Path) -> None:
    raw = await complete_file(tmp_path, numbered(1))

    archive = WarcArchive(tmp_path, "job")
    await archive.open()
    leave_open(tmp_path, raw)
    await archive.store([numbered(2)])
    await archive.close()
    assert sorted(page.url[-1] for page in read_pages(tmp_path)) == ["1", "2"]
    assert len(names(tmp_path)) == 2


async def test_what_a_power_failure_left_is_cut_off(tmp_path: Path) -> None:
    raw = await complete_file(tmp_path, numbered(1))
    leave_open(tmp_path, raw + bytes(5_000))
    await store(WarcArchive(tmp_path, "job"))
    assert [page.url[-1] for page in read_pages(tmp_path)] == ["1"]


def test_members_across_blocks_are_counted() -> None:
    members = [gzip.compress(os.urandom(50_000)) for _ in range(5)]
    raw = b"".join(members)
    assert whole_members_bytes(io.BytesIO(raw)) == len(raw)
    assert whole_members_bytes(io.BytesIO(raw[:-1])) == len(raw) - len(members[-1])


# What goes wrong


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "disk", size_mb=1) as disk:
        yield disk


@pytest.mark.parametrize("is_begun", [True, False])
async def test_a_full_disk_leaves_nothing_half_written(small_disk: Path, *, is_begun: bool) -> None:
    archive = WarcArchive(small_disk, "job")
    await archive.open()
    if is_begun:
        await archive.store([numbered(1)])
    ballast = fill(small_disk, 0)
    for _ in range(2):
        with pytest.raises(StoreFullError, match="free some space"):
            await archive.store([numbered(2, os.urandom(20_000))])
    ballast.unlink()
    await archive.store([numbered(3)])
    await archive.close()
    assert [page.url[-1] for page in read_pages(small_disk)] == ["1", "3"][not is_begun :]
    assert len(names(small_disk)) == 1


async def test_a_place_that_is_no_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="choose another"):
        await WarcArchive(tmp_path / "file", "job").open()


def test_archives_are_known_by_their_scheme() -> None:
    assert is_archive("warc://pages")
    assert is_archive("WARC:///var/pages")
    assert not is_archive("pages.warc")
    config = SinkConfig(Path("job"), "job")
    assert make_archive("warc://pages/2027", config).place == "pages/2027"
    assert make_archive("warc:///var/pages", config).place == "/var/pages"


@pytest.mark.parametrize("output", ["warc://", "warc:///"])
def test_an_archive_needs_a_directory(output: str) -> None:
    with pytest.raises(ConfigError, match="write warc://DIR"):
        make_archive(output, SinkConfig(Path("job")))


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "warcio.warcwriter", None)
    for module in ("weft.sinks.warc.archive", "weft.sinks.warc.records"):
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ConfigError, match=r"pages cannot go to warc://x .*pip install 'weft\[warc"):
        make_archive("warc://x", SinkConfig(Path("job")))

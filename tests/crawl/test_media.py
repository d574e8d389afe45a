"""Scrapy's media pipelines in a crawl of several workers."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from launchers.redis import RedisServer
from rawserver import RawServer, Script
from running import Process, Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
FILES = 5

# Each worker has a directory of its own: only other workers can tell it that a file is there.
SPIDER = """
import os
import scrapy

class MediaSpider(scrapy.Spider):
    name = "media"
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.KIND": 1},
        "STORE": f"files-{os.getpid()}",
        "WEFT_LEASE_TIMEOUT": 2,
    }

    async def start(self):
        for url in self.starts.split(","):
            yield scrapy.Request(url)

    def parse(self, response):
        yield {"page": response.url, "pid": os.getpid(), "FIELD_urls": self.files.split(",")}
        yield from response.follow_all(css="a")
"""


def write_spider(directory: Path, pipeline: str = "files.FilesPipeline") -> None:
    kind = pipeline.partition(".")[0]
    field = {"files": "file", "images": "image"}[kind]
    text = SPIDER.replace("KIND", pipeline).replace("STORE", f"{kind.upper()}_STORE")
    text = text.replace("FIELD", field)
    (directory / "media.py").write_text(text)


def items_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def arguments(server: SiteServer, files: list[str]) -> tuple[str, ...]:
    starts = ",".join(server.url_of(host) for host in HOSTS)
    given = ("-a", f"starts={starts}", "-a", f"files={','.join(files)}")
    return (*given, "-o", "out.jsonl", "--job", "media")


@pytest.fixture
def pages() -> Iterator[SiteServer]:
    """So slow that both workers download some of them."""
    with SiteServer(Site(pages=10, hosts=HOSTS, latency_s=0.2)) as server:
        yield server


@contextmanager
def started(weft: Weft, count: int, *command: str) -> Iterator[list[Process]]:
    """Several processes of one command, which do not outlive a test that fails."""
    processes = [weft.start(*command) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def image(number: int) -> bytes:
    pillow = pytest.importorskip("PIL.Image")
    out = BytesIO()
    pillow.new("RGB", (20 + number, 20)).save(out, "JPEG")
    return out.getvalue()


def served(kind: str) -> dict[str, Script]:
    bodies = [image(n) if kind == "images" else b"%d" % n * 1000 for n in range(FILES)]
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    return {f"{n}.jpg": Script([head % len(body), body]) for n, body in enumerate(bodies)} | {
        "robots.txt": Script([b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n"])
    }


@pytest.mark.parametrize(
    "pipeline",
    ["files.FilesPipeline", pytest.param("images.ImagesPipeline", marks=pytest.mark.long)],
)
def test_every_file_is_downloaded_by_one_worker(
    weft: Weft, tmp_path: Path, pages: SiteServer, pipeline: str
) -> None:
    kind = pipeline.partition(".")[0]
    write_spider(tmp_path, pipeline)
    with RawServer(served(kind)) as media:
        urls = [f"{media.url}{number}.jpg" for number in range(FILES)]
        command = ("crawl", "media.py", "--workers", "2", "--concurrency", "2")
        done = weft(*command, *arguments(pages, urls))
        asked = Counter(request.split()[1] for request in media.requests)
    assert done.returncode == 0, done.stderr
    asked.pop(b"/robots.txt", None)
    assert asked == {b"/%d.jpg" % number: 1 for number in range(FILES)}
    items = items_in(tmp_path / "out.jsonl")
    assert {item["page"] for item in items} == pages.page_urls()
    assert len({item["pid"] for item in items}) == 2
    for item in items:
        assert [result["url"] for result in item[kind]] == urls
        for result in item[kind]:
            [path] = tmp_path.glob(f"files-*/{result['path']}")
            assert path.stat().st_size > 0
    assert len({json.dumps(item[kind]) for item in items}) == 1


def test_a_host_gets_no_more_media_requests_at_a_time_than_it_allows(
    weft: Weft, tmp_path: Path
) -> None:
    write_spider(tmp_path)
    latency_s = 0.1
    with SiteServer(Site(pages=1, latency_s=latency_s)) as server:
        files = [f"{server.url}echo?{number}" for number in range(20)]
        given = ("-a", f"starts={server.url}", "-a", f"files={','.join(files)}")
        done = weft("crawl", "media.py", *given, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=5")
        times_s = [hit.at_s for hit in server.hits() if "echo" in hit.path]
    assert done.returncode == 0, done.stderr
    assert len(times_s) == 20
    # Whatever arrives while a request waits for its answer is under way with it; timers of the
    # server may be a little early.
    window_s = 0.9 * latency_s
    together = (sum(at_s <= other < at_s + window_s for other in times_s) for at_s in times_s)
    assert 1 < max(together) <= 5


def test_files_that_cannot_be_had_are_no_results(
    weft: Weft, tmp_path: Path, pages: SiteServer, redis_server: RedisServer
) -> None:
    write_spider(tmp_path)
    missing = pages.url_of(HOSTS[0], "/missing/file")
    done = weft(
        "crawl", "media.py", *arguments(pages, [missing]), "-w", "2", "--store", redis_server.url
    )
    assert done.returncode == 0, done.stderr
    items = items_in(tmp_path / "out.jsonl")
    assert [item["files"] for item in items] == [[]] * 40
    # Each worker asks for itself, and remembers the answer.
    assert 1 <= [hit.path for hit in pages.hits()].count("/missing/file") <= 2
    assert redis_server.ask("HLEN", "weft:{media}:media") == 0


def downloader(redis_server: RedisServer) -> int:
    """The process that downloads the file."""
    with redis_server.client() as client:
        [record] = client.hvals("weft:{media}:media")
    _, owner = str(record).split()
    return int(owner.split(":")[1])


def test_a_killed_worker_does_not_keep_others_from_a_file(
    weft: Weft, tmp_path: Path, pages: SiteServer, redis_server: RedisServer
) -> None:
    write_spider(tmp_path)
    slow = pages.url_of(HOSTS[0], "/slow/2")
    command = ("crawl", "media.py", *arguments(pages, [slow]), "--store", redis_server.url)

    def is_asked() -> bool:
        return any(hit.path == "/slow/2" for hit in pages.hits())

    with started(weft, 2, *command) as processes:
        wait_until(is_asked, description="one of them downloads")
        victim = downloader(redis_server)
        [survivor] = [process for process in processes if process.pid != victim]
        os.kill(victim, signal.SIGKILL)
        _, err = survivor.communicate(timeout=60)
        assert survivor.returncode == 0, err
    items = items_in(tmp_path / "out.jsonl")
    assert {item["page"] for item in items} == pages.page_urls()
    assert all([result["url"] for result in item["files"]] == [slow] for item in items)
    assert [hit.path for hit in pages.hits()].count("/slow/2") == 2

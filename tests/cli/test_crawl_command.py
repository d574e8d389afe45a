"""`weft crawl`, as a user meets it."""

import json
import signal
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from running import Weft
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

SPIDER = """
import scrapy

class BookSpider(scrapy.Spider):
    name = "books"
    shelf = "all"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url, "shelf": self.shelf}
        yield from response.follow_all(css="a", callback=self.parse)
"""


def read_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def read_items(path: Path) -> list[dict[str, object]]:
    with closing(sqlite3.connect(path)) as connection:
        return [json.loads(row) for (row,) in connection.execute("SELECT item FROM items")]


def test_a_site_of_2000_pages_gives_2000_items(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=2000, links=10)) as server:
        ended = weft("crawl", server.url, "-o", "out.jsonl")
        assert ended.returncode == 0, ended.stderr
        items = read_lines(tmp_path / "out.jsonl")
        assert len(items) == 2000
        assert {item["url"] for item in items} == server.page_urls()
        assert len(server.hits()) == 2001  # and robots.txt
    assert ended.stdout.startswith("2,000 pages and 2,000 items")
    assert set(items[0]) == {"url", "title", "status", "depth", "text_length"}
    assert items[0]["depth"] == 0


def test_items_go_to_the_directory_of_the_job_by_default(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=20)) as server:
        ended = weft("crawl", server.url)
        assert ended.returncode == 0
        assert "WARNING" not in ended.stderr
        [path] = tmp_path.glob(".weft/*/items.db")
        assert {item["url"] for item in read_items(path)} == server.page_urls()
    assert str(path.relative_to(tmp_path)) in ended.stdout


def test_items_can_go_to_several_places(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=20)) as server:
        weft("crawl", server.url, "-o", "a.jsonl", "-o", "b.db")
    assert len(read_lines(tmp_path / "a.jsonl")) == 20
    assert len(read_items(tmp_path / "b.db")) == 20


def test_links_are_followed_only_so_deep(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=100, links=2)) as server:
        weft("crawl", server.url, "--depth", "2", "-o", "out.jsonl")
        assert {item["depth"] for item in read_lines(tmp_path / "out.jsonl")} == {0, 1, 2}
        told = weft("frontier", "explain", server.url + "p/7.html")
        assert "deeper than DEPTH_LIMIT 2" in told.stdout


def test_exactly_so_many_pages_are_crawled(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=500, redirects_every=3)) as server:
        command = ("crawl", server.url, "-o", "out.jsonl", "--max-pages", "37")
        ended = weft(*command)
        assert ended.returncode == 0
        assert len(read_lines(tmp_path / "out.jsonl")) == 37
        assert "Run the same command to continue" in ended.stdout
        weft(*command)
        assert len(read_lines(tmp_path / "out.jsonl")) == 74


@pytest.mark.parametrize("order", ["bfs", "dfs", "priority", "random"])
def test_every_order_gets_all_pages(order: str, weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=150)) as server:
        ended = weft("crawl", server.url, "--order", order, "-o", "out.jsonl")
        assert ended.returncode == 0
        assert {item["url"] for item in read_lines(tmp_path / "out.jsonl")} == server.page_urls()


def test_the_delay_is_kept_between_all_requests(weft: Weft) -> None:
    with SiteServer(Site(pages=8)) as server:
        weft("crawl", server.url, "--delay", "0.2")
        times = [hit.at_s for hit in server.hits()]
    assert len(times) == 9
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= 0.17  # a busy machine delivers some milliseconds late
    assert times[-1] - times[0] < 9 * 0.2 + 1.0


def test_the_concurrency_of_a_host_is_kept(weft: Weft) -> None:
    with SiteServer(Site(pages=30, latency_s=0.1)) as server:
        weft("crawl", server.url, "--concurrency", "3")
        times = [hit.at_s for hit in server.hits()]
    for i, start in enumerate(times):
        # A request takes 0.1 s: whatever arrives within that time of it is under way with it.
        assert sum(1 for at_s in times[i:] if at_s < start + 0.095) <= 3


def test_a_spider_file_is_run_with_its_arguments(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(SPIDER)
    with SiteServer(Site(pages=30)) as server:
        ended = weft(
            "crawl", "books.py", "-a", f"url={server.url}", "-a", "shelf=new", "-o", "o.jl"
        )
        assert ended.returncode == 0, ended.stderr
        items = read_lines(tmp_path / "o.jl")
        assert {item["url"] for item in items} == server.page_urls()
        assert {item["shelf"] for item in items} == {"new"}
    [job_dir] = (tmp_path / ".weft").glob("books-*")
    assert (job_dir / "frontier").is_dir()


def test_the_store_of_a_spider_is_kept(weft: Weft, tmp_path: Path) -> None:
    own = 'name = "books"\n    custom_settings = {"WEFT_STORE": "rocks://mine"}'
    (tmp_path / "books.py").write_text(SPIDER.replace('name = "books"', own))
    with SiteServer(Site(pages=5)) as server:
        assert weft("crawl", "books.py", "-a", f"url={server.url}").returncode == 0
    assert (tmp_path / "mine/frontier").is_dir()
    assert len(read_items(tmp_path / "mine/items.db")) == 5


def test_several_urls_are_one_crawl(weft: Weft, tmp_path: Path) -> None:
    site = Site(pages=20, hosts=("127.0.0.1", "127.0.0.2"))
    with SiteServer(site) as server:
        second = server.url_of("127.0.0.2")
        assert weft("crawl", server.url, second, "-o", "out.jsonl").returncode == 0
        assert {item["url"] for item in read_lines(tmp_path / "out.jsonl")} == server.page_urls()


def test_robots_txt_is_obeyed_and_told(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=10, robots="User-agent: *\nDisallow: /p/3")) as server:
        ended = weft("crawl", server.url, "-o", "out.jsonl")
        assert ended.returncode == 0
        assert "1 request refused" in ended.stdout
        assert not [hit for hit in server.hits() if hit.path.startswith("/p/3")]
        told = weft("frontier", "explain", server.url + "p/3.html")
        assert "Forbidden by robots.txt" in told.stdout


def test_bad_pages_cost_one_page_and_not_the_crawl(weft: Weft, tmp_path: Path) -> None:
    bad = [
        "broken/close", "broken/length", "broken/header", "broken/charset", "redirect-loop", "bomb",
        "long-link", "status/404", "status/500",
    ]  # fmt: skip
    with SiteServer(Site(pages=30)) as server:
        urls = [server.url + path for path in bad]
        ended = weft("crawl", server.url, *urls, "-o", "out.jsonl", "-s", "RETRY_TIMES=0")
        assert ended.returncode == 0, ended.stderr
        pages = {item["url"] for item in read_lines(tmp_path / "out.jsonl")}
        assert server.page_urls() <= pages


def test_an_endless_site_is_bounded_by_depth(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=1)) as server:
        ended = weft("crawl", server.url + "trap/x", "--depth", "2", "-o", "out.jsonl")
        assert ended.returncode == 0
    assert len(read_lines(tmp_path / "out.jsonl")) == 1 + 10 + 100


def test_the_second_interrupt_stops_at_once(weft: Weft) -> None:
    with SiteServer(Site(pages=50, latency_s=30)) as server:
        process = weft.start("crawl", server.url, "-s", "ROBOTSTXT_OBEY=False")
        wait_until(lambda: bool(server.hits()), description="the first request is under way")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is None, description="the crawl is stopping")
        with pytest.raises(Exception, match="timed out"):
            process.wait(1)  # it waits for the request that is under way
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=5)
    assert process.returncode == 130, err
    assert "run the same command to continue" in err


def test_a_crawl_that_fetched_nothing_has_failed(weft: Weft) -> None:
    ended = weft("crawl", "http://127.0.0.1:1/")
    assert ended.returncode == 1
    assert "not a single page could be fetched" in ended.stderr
    assert "Connection was refused" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_crawl_that_goes_on_with_a_dead_link_has_not_failed(weft: Weft) -> None:
    with SiteServer(Site(pages=1)) as server:
        command = ("crawl", server.url, f"{server.url}missing/1", "-s", "CONCURRENT_REQUESTS=1")
        assert weft(*command, "--max-pages", "1").returncode == 0
        ended = weft(*command)
    assert "continues: 1 queued, 1 done" in ended.stderr
    assert "0 pages" in ended.stdout
    assert ended.returncode == 0, ended.stderr


def test_a_spider_that_raises_has_failed(weft: Weft, tmp_path: Path) -> None:
    broken = SPIDER.replace('yield {"url"', 'raise ValueError("oops")\n        yield {"url"')
    (tmp_path / "books.py").write_text(broken)
    with SiteServer(Site(pages=3)) as server:
        ended = weft("crawl", "books.py", "-a", f"url={server.url}")
        told = weft("frontier", "explain", server.url)
    assert ended.returncode == 1
    assert "1 request failed: spider error" in ended.stdout
    assert "the spider raised ValueError: oops" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["nowhere"], "not a Scrapy project"),
        (["example.org"], "https://example.org"),
        (["gone.py"], "there is no file gone.py"),
        (["ftp://example.org/"], "http://HOST"),
        (["http://"], "http://HOST"),
        (["http://a/", "spider"], "must all be URLs"),
        (["http://a/", "-a", "x=1"], "-a is for spiders"),
        (["http://a/", "-s", "NONSENSE"], "NAME=VALUE"),
        (["http://a/", "--store", "mysql://a"], "rocks:///DIR"),
        (["http://a/", "--store", "mysql://a"], "redis://HOST:PORT/DB"),
        (["http://a/", "--store", "redis://127.0.0.1:1/0"], "does not answer"),
        (["http://a/", "-s", "WEFT_SEEN=bloom"], "set WEFT_STORE to redis://"),
        (["http://a/", "-o", "out.doc"], ".jsonl"),
        (["http://a/", "-o", "."], "choose"),
        (["http://a/", "-s", "WEFT_ORDR=bfs"], "WEFT_ORDER"),
        (["http://a/", "-s", "LOG_LEVEL=loud"], "WARNING"),
        (["http://a/", "-s", "DOWNLOAD_DELAY=soon"], "DOWNLOAD_DELAY"),
    ],
)
def test_what_is_wrong_is_told_with_its_cure(arguments: list[str], cure: str, weft: Weft) -> None:
    ended = weft("crawl", *arguments)
    assert ended.returncode == 1
    assert cure in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--order", "zigzag"],
        ["--depth", "-1"],
        ["--max-pages", "0"],
        ["--delay", "x"],
        ["--workers-per-host", "0"],
    ],
)
def test_bad_options_are_usage_errors(arguments: list[str], weft: Weft) -> None:
    ended = weft("crawl", "http://127.0.0.1:1/", *arguments)
    assert ended.returncode == 2
    assert arguments[0] in ended.stderr


def test_a_file_with_two_spiders_is_refused(weft: Weft, tmp_path: Path) -> None:
    second = SPIDER.replace("import scrapy", "").replace("Book", "Film").replace("books", "films")
    (tmp_path / "two.py").write_text(SPIDER + second)
    ended = weft("crawl", "two.py")
    assert ended.returncode == 1
    assert "it contains: books, films" in ended.stderr


def test_a_spider_file_that_cannot_be_imported_says_why(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_this_name")
    ended = weft("crawl", "broken.py")
    assert ended.returncode == 1
    assert "nothing_of_this_name" in ended.stderr


def test_a_project_that_cannot_be_loaded_says_why(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    gone = weft("crawl", "books")
    (tmp_path / "shop/spiders").mkdir(parents=True)
    (tmp_path / "shop/settings.py").write_text("SPIDER_MODULES = ['shop.spiders']")
    (tmp_path / "shop/spiders/books.py").write_text("import nothing_of_this_name")
    broken = weft("crawl", "books")
    for ended, why in ((gone, "settings of this Scrapy project"), (broken, "nothing_of_this_name")):
        assert ended.returncode == 1
        assert why in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_terminated_crawl_goes_on(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=400, latency_s=0.05)) as server:
        command = ("crawl", server.url, "-o", "out.jsonl")
        first = weft.start(*command)
        wait_until(lambda: len(server.hits()) > 20, description="the crawl is under way")
        first.terminate()
        told, _ = first.communicate(timeout=60)
        assert first.returncode == 130
        assert "Run the same command to continue" in told
        assert weft(*command).returncode == 0
        assert len(server.hits()) == 402  # robots.txt twice, no page twice
    assert len(read_lines(tmp_path / "out.jsonl")) == 400


def test_a_store_in_use_is_told(weft: Weft) -> None:
    with SiteServer(Site(pages=50, latency_s=30)) as server:
        first = weft.start("crawl", server.url)
        try:
            wait_until(lambda: bool(server.hits()), description="the first crawl is under way")
            second = weft("crawl", server.url)
            assert second.returncode == 1
            assert "in use by another process" in second.stderr
            looked = weft("frontier", "stats")
            assert looked.returncode == 0
            assert "1 claimed by a worker" in looked.stdout
        finally:
            first.kill()
            first.communicate()


def test_a_store_of_a_newer_weft_is_told_and_left_alone(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=30)) as server:
        command = ("crawl", server.url, "-o", "out.jsonl", "--store", "rocks://job")
        weft(*command, "--max-pages", "5")
        write_format(tmp_path / "job/frontier", b"99")
        for words in (command, ("frontier", "stats", "--store", "rocks://job")):
            ended = weft(*words)
            assert ended.returncode == 1
            assert "upgrade Weft" in ended.stderr
            assert "Traceback" not in ended.stderr
        write_format(tmp_path / "job/frontier", b"1")
        assert weft(*command).returncode == 0
    assert len(read_lines(tmp_path / "out.jsonl")) == 30


def write_format(frontier: Path, number: bytes) -> None:
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(str(frontier))}
    store = Rdict(str(frontier), Options(raw_mode=True), families)
    store[b"format"] = number
    store.close()


def test_the_frontier_can_be_asked_and_cleared(weft: Weft) -> None:
    with SiteServer(Site(pages=30)) as server:
        weft("crawl", server.url, "--max-pages", "5")
        told = json.loads(weft("frontier", "stats", "--json").stdout)
        assert told["stats"]["done"] == 5
        assert told["hosts"][0]["host"] == "127.0.0.1"
        story = weft("frontier", "explain", server.url + "p/1.html").stdout
        assert f"on {server.url}" in story
        assert "status 200" in story
        found = json.loads(weft("frontier", "explain", server.url + "p/1.html", "--json").stdout)
        assert found["fetches"][0][2] == 200
        assert "never seen" in weft("frontier", "explain", server.url + "nowhere").stdout
        assert weft("frontier", "clear").returncode == 1  # nobody said yes
        assert weft("frontier", "clear", "--yes").returncode == 0
        assert json.loads(weft("frontier", "stats", "--json").stdout)["stats"]["added"] == 0


def test_a_job_can_have_a_name(weft: Weft, tmp_path: Path) -> None:
    with SiteServer(Site(pages=5)) as server:
        assert weft("crawl", server.url, "--job", "mine").returncode == 0
        assert weft("crawl", server.url, "--job", "yours").returncode == 0
        assert weft("crawl", server.url, "--job", "mine").stdout.startswith("Nothing to do")
    assert len(read_items(tmp_path / ".weft/mine/items.db")) == 5
    asked = weft("frontier", "stats")
    assert "there are several jobs here: mine, yours; name one with --job" in asked.stderr
    assert (
        "Finished: nothing is left.\n  5 pages done\n"
        in weft("frontier", "stats", "--job", "yours").stdout
    )
    both = weft("frontier", "stats", "--job", "yours", "--store", "rocks://.weft/yours")
    assert "omit --job" in both.stderr


def test_a_crawl_of_which_one_kind_was_forgotten_is_not_finished(weft: Weft) -> None:
    with SiteServer(Site(pages=5)) as server:
        weft("crawl", server.url)
        assert "Nothing to do" in weft("crawl", server.url).stdout
        both = weft("frontier", "clear", "--yes", "--all", "--kind", "data")
        assert "use one of them" in both.stderr
        assert weft("frontier", "clear", "--yes", "--kind", "data").returncode == 0
        assert weft("crawl", server.url).stdout.startswith("5 pages")


def test_asking_without_a_job_says_where_to_go(weft: Weft) -> None:
    ended = weft("frontier", "stats")
    assert ended.returncode == 1
    assert "--store" in ended.stderr


def test_every_command_explains_itself(weft: Weft) -> None:
    for command in ([], ["crawl"], ["demo"], ["frontier"], ["frontier", "explain"]):
        ended = weft(*command, "--help")
        assert ended.returncode == 0
        assert "Usage" in ended.stdout


def test_a_start_request_that_cannot_be_stored_fails_like_any_other(weft: Weft) -> None:
    (weft.directory / "odd.py").write_text(
        "import scrapy\n"
        "class Odd(scrapy.Spider):\n"
        "    name = 'odd'\n"
        "    async def start(self):\n"
        "        yield scrapy.Request('http://127.0.0.1:9/', meta={'odd': object()})\n"
    )
    ended = weft("crawl", "odd.py")
    assert ended.returncode == 1
    assert "1 request failed: DownloadConnectionRefusedError" in ended.stdout

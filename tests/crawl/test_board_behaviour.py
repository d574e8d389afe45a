"""What boards can say, what goes wrong with their pages, and what is told about it."""

import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from launchers.server import free_port
from newsrooms import check_articles, read_lines, urls_of, wanted, write_board
from running import Weft
from servers import Servers, emptied
from weft.testing import wait_until
from weft.testing.newsroom import NewsroomServer

SOON = {"every": "1s", "at_least": "1s", "at_most": "1s"}


@pytest.fixture
def site() -> Iterator[NewsroomServer]:
    with NewsroomServer(papers=["digest", "evening"]) as server:
        yield server


@pytest.fixture(params=["embedded", "redis"])
def store(request: pytest.FixtureRequest, servers: Servers) -> Iterator[list[str]]:
    """The options that name it."""
    if request.param == "embedded":
        yield []
        return
    with emptied(servers.get("redis")) as kit:
        yield ["--store", kit.url]


def show(weft: Weft, name: str) -> dict[str, Any]:
    done = weft("board", "show", name, "--json")
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def problems(weft: Weft, name: str) -> str:
    return "\n".join(f"{each['url']} {each['what']}" for each in show(weft, name)["problems"])


def crawl(weft: Weft, *options: str) -> list[dict[str, Any]]:
    """The articles that were stored."""
    done = weft("crawl", "news.yaml", "-o", "items.jsonl", *options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    path = weft.directory / "items.jsonl"
    return read_lines(path) if path.exists() else []


def papers_of(items: list[dict[str, Any]], site: NewsroomServer) -> set[str]:
    stories = site.newsroom.stories()
    return {stories[item["url"]].paper for item in items}


def test_all_mistakes_of_boards_are_told_before_anything_is_fetched(
    weft: Weft, site: NewsroomServer
) -> None:
    write_board(weft.directory / "good.yaml", site.entries)
    (weft.directory / "bad.yaml").write_text("name: my news\nentrys: [x]\ndepth: two\n")
    done = weft("crawl", "good.yaml", "bad.yaml")
    assert done.returncode == 1
    assert [line.removeprefix("weft: ")[:13] for line in done.stderr.splitlines()] == [
        "bad.yaml:1:1:",
        "bad.yaml:1:7:",
        "bad.yaml:2:1:",
        "bad.yaml:3:8:",
    ]
    assert 'did you mean "entries"?' in done.stderr
    assert site.hits() == []
    assert not (weft.directory / ".weft").exists()


def test_an_entry_that_is_down_is_told_and_found_when_it_is_back(
    weft: Weft, site: NewsroomServer
) -> None:
    write_board(weft.directory / "news.yaml", site.entries, refresh=SOON)
    site.go_down("evening")
    assert papers_of(crawl(weft), site) == {"digest"}
    entry = site.newsroom.url("evening")
    assert f"{entry} " in problems(weft, "news")
    site.mend()

    def is_found() -> bool:
        return papers_of(crawl(weft), site) == {"digest", "evening"}

    wait_until(is_found, timeout_s=30, description="the entry was asked again")


def test_a_board_stops_after_its_pages(weft: Weft, site: NewsroomServer) -> None:
    write_board(weft.directory / "news.yaml", site.entries, limits={"pages": 20, "delay": 0})
    crawl(weft)
    # Those that are under way when the last one counts come besides. The board reads robots.txt for
    # its sitemaps.
    assert 20 <= len(site.hits()) <= 20 + 2 * 16
    assert show(weft, "news")["counts"]["pages"] >= 20


def test_an_entry_is_explained_as_one(weft: Weft, site: NewsroomServer, store: list[str]) -> None:
    [entry, _] = site.entries
    write_board(weft.directory / "news.yaml", [entry], limits={"pages": 5, "delay": 0})
    assert weft("crawl", "news.yaml", *store).returncode == 0
    told = weft("frontier", "explain", entry, "--job", "news", *store).stdout.splitlines()
    assert told[:2] == [entry, "  an entry of the board news"]
    assert "  visited again: every 60 min" in told


def test_a_fresh_crawl_has_all_its_pages_again(weft: Weft, site: NewsroomServer) -> None:
    entries = [site.entries[0], f"{site.entries[0]}nowhere/"]
    write_board(weft.directory / "news.yaml", entries, limits={"pages": 20, "delay": 0})
    crawl(weft)
    first = show(weft, "news")
    site.forget()
    crawl(weft, "--fresh")
    assert len(site.hits()) >= 20
    second = show(weft, "news")
    assert second["counts"]["pages"] < 2 * first["counts"]["pages"]
    assert second["added_at_ms"] == first["added_at_ms"]


def test_clearing_the_frontier_forgets_what_became_of_boards(
    weft: Weft, site: NewsroomServer
) -> None:
    write_board(weft.directory / "news.yaml", [f"{site.entries[0]}nowhere/"])
    weft("crawl", "news.yaml")
    before = show(weft, "news")
    assert before["problems"]
    assert weft("frontier", "clear", "--yes").returncode == 0
    assert show(weft, "news") == before | {"active_at_ms": 0, "counts": {}, "problems": []}


def test_articles_go_to_the_sinks_of_their_board(weft: Weft, site: NewsroomServer) -> None:
    digest, evening = site.entries
    write_board(weft.directory / "digest.yaml", [digest], sinks=["digest.jsonl"])
    write_board(weft.directory / "evening.yaml", [evening])
    done = weft("crawl", "digest.yaml", "evening.yaml", "-o", "others.jsonl")
    assert done.returncode == 0, done.stderr
    for file, paper in (("digest.jsonl", "digest"), ("others.jsonl", "evening")):
        items = read_lines(weft.directory / file)
        assert {item["url"] for item in items} == {
            url for url, story in wanted(site.newsroom).items() if story.paper == paper
        }
        assert {item["board"] for item in items} == {paper}


def test_a_sink_that_cannot_be_used_costs_no_article(weft: Weft, site: NewsroomServer) -> None:
    sinks = ["/proc/news.jsonl"]
    write_board(weft.directory / "news.yaml", site.entries[:1], sinks=sinks)
    crawl(weft)
    assert "articles cannot be stored, and are kept aside" in problems(weft, "news")
    [letters] = (weft.directory / ".weft/news").glob("dead*")
    assert len(read_lines(letters)) == len(
        [story for story in wanted(site.newsroom).values() if story.paper == "digest"]
    )


def test_a_sink_that_is_down_is_told(weft: Weft, site: NewsroomServer) -> None:
    down = f"mongodb://127.0.0.1:{free_port()}/news/articles"
    write_board(weft.directory / "news.yaml", site.entries[:1], sinks=[down])
    process = weft.start("crawl", "news.yaml")

    def is_told() -> bool:
        return "the crawl waits for a sink" in weft("board", "show", "news").stdout

    try:
        wait_until(is_told, "the board says that its sink is down", timeout_s=60)
    finally:
        process.kill()
        process.communicate()


def test_articles_are_fetched_again_if_the_board_says_so(weft: Weft, site: NewsroomServer) -> None:
    path = weft.directory / "news.yaml"
    write_board(path, site.entries[:1], update_after="1s", refresh={"every": "1h"})
    first = {item["url"] for item in crawl(weft)}
    site.forget()

    def are_fetched() -> bool:
        assert {item["url"] for item in crawl(weft)} == first
        port = site.entries[0].rstrip("/").rpartition(":")[2]
        asked = {f"http://{url}".replace("/", f":{port}/", 3) for url in urls_of(site.hits())}
        return len(asked) >= len(first)

    wait_until(are_fetched, timeout_s=30, description="articles were fetched again")


def test_what_hinders_a_board_is_told(weft: Weft) -> None:
    with NewsroomServer(papers=["courier"]) as site:
        entries = [*site.entries, f"{site.entries[0]}members/", f"{site.entries[0]}nowhere/"]
        write_board(weft.directory / "news.yaml", entries)
        check_articles(crawl(weft), site.newsroom)  # it costs pages, not articles
    told = problems(weft, "news")
    assert "/archive/complete.html too large: 20," in told
    assert "/puzzles/labyrinth.html" in told  # too deep
    assert "/calendar/" in told
    assert "brought nothing new" in told
    assert "/nowhere/ status 404" in told
    assert "a login page instead of a list" in told


def test_a_wrong_charset_is_told_and_the_page_read_all_the_same(
    weft: Weft, site: NewsroomServer
) -> None:
    write_board(weft.directory / "news.yaml", site.entries)
    check_articles(crawl(weft), site.newsroom)
    assert "it says that its charset is utf-8, but it is gb18030" in problems(weft, "news")


def test_a_host_that_is_not_there_is_told_in_words(weft: Weft, site: NewsroomServer) -> None:
    write_board(weft.directory / "news.yaml", [site.entries[0], "http://nowhere.invalid/"])
    assert crawl(weft)
    assert "http://nowhere.invalid/ there is no such host" in problems(weft, "news")


def test_an_entry_that_is_no_page_is_told(weft: Weft) -> None:
    with NewsroomServer(papers=["courier"]) as site:
        entry = f"{site.entries[0]}robots.txt"
        write_board(weft.directory / "news.yaml", [entry])
        crawl(weft)
    assert f"{entry} neither a page nor a feed, but text/plain" in problems(weft, "news")


def test_patterns_decide_what_an_article_is_and_what_is_followed(
    weft: Weft, site: NewsroomServer
) -> None:
    [entry, _] = site.entries
    pattern = r"/press/[\w-]+\.html$"
    write_board(
        weft.directory / "news.yaml",
        [entry],
        articles=[pattern],
        follow=["/press/"],
        sitemaps=False,
        feeds=False,
    )
    items = crawl(weft)
    assert items
    assert all("/press/" in item["url"] for item in items)
    asked = urls_of(site.hits())
    assert all("/press/" in url or url.partition("/")[2] == "" for url in asked), asked


class Watching:
    """`weft crawl boards --watch` in the background."""

    def __init__(self, weft: Weft, *options: str) -> None:
        self._weft = weft
        self._options = options
        self._process = weft.start("crawl", "boards", "--watch", "-o", "items.jsonl", *options)

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def urls(self) -> set[str]:
        """Of the articles that were stored."""
        path = self._weft.directory / "items.jsonl"
        written = path.read_bytes() if path.exists() else b""
        whole = written[: written.rfind(b"\n") + 1]  # the last line may just be written
        return {json.loads(line)["url"] for line in whole.splitlines()}

    def board(self, *words: str) -> None:
        done = self._weft("board", *words, *self._options)
        assert done.returncode == 0, done.stderr

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        _, log = self._process.communicate(timeout=30)
        assert "Traceback" not in log, log


@pytest.mark.timeout(120)
def test_boards_are_added_changed_paused_and_removed_while_they_are_crawled(
    weft: Weft, site: NewsroomServer, store: list[str]
) -> None:
    digest, evening = site.entries
    write_board(weft.directory / "digest.yaml", [digest], refresh=SOON)
    write_board(weft.directory / "evening.yaml", [f"{evening}nowhere/"], refresh=SOON)
    assert weft("board", "add", "digest.yaml", *store).returncode == 0
    stories = {story.paper: set[str]() for story in wanted(site.newsroom).values()}
    for url, story in wanted(site.newsroom).items():
        stories[story.paper].add(url)

    with Watching(weft, *store) as watching:

        def wait_for(paper: str) -> None:
            wait_until(lambda: stories[paper] <= watching.urls, paper, timeout_s=60)

        wait_for("digest")
        watching.board("add", "evening.yaml")
        write_board(weft.directory / "evening.yaml", [evening], refresh=SOON)
        watching.board("add", "evening.yaml")
        wait_for("evening")

        # Lists are visited again and again, but for those of a board that is paused or removed.
        def is_silent(host: str) -> bool:
            last_s = max((hit.at_s for hit in site.hits() if hit.host == host), default=0.0)
            return time.monotonic() - last_s > 3

        watching.board("pause", "digest")
        wait_until(lambda: is_silent("127.0.0.3"), "the paused board rests", timeout_s=60)
        wait_until(lambda: not is_silent("127.0.0.2"), "the other board goes on", timeout_s=60)
        watching.board("remove", "evening", "--yes")
        wait_until(lambda: is_silent("127.0.0.2"), "the removed board is gone", timeout_s=60)
        watching.stop()


def test_a_preview_shows_what_would_be_found_and_writes_a_board(
    weft: Weft, site: NewsroomServer
) -> None:
    done = weft("board", "preview", site.entries[0], "-o", "found.yaml")
    assert done.returncode == 0, done.stderr
    assert "topic links" in done.stderr
    assert "published" in done.stderr
    checked = weft("board", "check", "found.yaml")
    assert checked.returncode == 0, checked.stderr
    again = weft("board", "preview", site.entries[0], "-o", "found.yaml")
    assert again.returncode == 1
    assert "is there already" in again.stderr
    plain = weft("board", "preview", site.entries[0], "--name", "mine")
    assert plain.stdout.startswith("name: mine\n")
    crawled = weft("crawl", "found.yaml")
    assert crawled.returncode == 0, crawled.stderr
    assert show(weft, "found")["counts"]["articles"] > 5  # the name of its file


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["file:///etc/passwd"], "a URL that begins with http:// or https:// is wanted"),
        (["http://me:hush@127.0.0.1:1/"], "a URL with a user or password"),
        (["http://127.0.0.1:1/", "--name", "../x"], "../x: a board's name begins with"),
        (["http://127.0.0.1:1/", "-o", "news.txt"], "news.txt: name a file that ends in .yaml"),
        (["http://127.0.0.1:1/", "-o", "no/x.yaml"], "no/x.yaml cannot be written"),
        (["http://127.0.0.1:1/", "-o", "x.yaml"], "http://127.0.0.1:1/: it cannot be fetched"),
    ],
)
def test_a_preview_says_what_is_wrong_and_writes_nothing(
    weft: Weft, words: list[str], told: str
) -> None:
    done = weft("board", "preview", *words)
    assert done.returncode == 1
    assert told in done.stderr
    assert "hush" not in done.stderr
    assert done.stdout == ""
    assert list(weft.directory.iterdir()) == []


@pytest.mark.parametrize("file", ["2024.yaml", "true.yaml", "my news.yaml"])
def test_any_name_of_a_file_gives_a_board(weft: Weft, site: NewsroomServer, file: str) -> None:
    done = weft("board", "preview", site.entries[0], "-o", file)
    assert done.returncode == 0, done.stderr
    assert weft("board", "check", file).returncode == 0


def test_a_preview_of_a_page_without_articles_says_so(weft: Weft, site: NewsroomServer) -> None:
    done = weft("board", "preview", f"{site.entries[0]}about.html")
    assert done.returncode == 1
    assert "no links to articles were found" in done.stderr or "404" in done.stderr


def test_a_crawl_of_boards_that_are_not_there_says_what_to_do(weft: Weft) -> None:
    done = weft("crawl", "boards")
    assert done.returncode == 1
    assert "weft board add FILE" in done.stderr
    mixed = weft("crawl", "news.yaml", "https://example.org/")
    assert mixed.returncode == 1
    assert "boards are crawled apart from other targets" in mixed.stderr

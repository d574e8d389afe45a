"""A board that names only its entries becomes the articles of the site, and stays up to date."""

from collections.abc import Iterator

import pytest

from newsrooms import check_articles, check_duplicates, read_lines, urls_of, wanted, write_board
from running import Weft
from servers import Servers, emptied
from weft.testing import wait_until
from weft.testing.newsroom import NewsroomServer


@pytest.fixture
def site() -> Iterator[NewsroomServer]:
    with NewsroomServer() as server:
        yield server


@pytest.fixture(params=["embedded", "redis"])
def options(request: pytest.FixtureRequest, servers: Servers) -> Iterator[tuple[str, ...]]:
    """Where the crawl lives, and how many workers it has."""
    if request.param == "embedded":
        yield ()
        return
    with emptied(servers.get("redis")) as kit:
        yield ("--store", kit.url, "--workers", "2")


@pytest.mark.timeout(120)
def test_exactly_the_articles_are_stored_and_only_what_is_due_is_fetched_again(
    weft: Weft, site: NewsroomServer, options: tuple[str, ...]
) -> None:
    board = weft.directory / "news.yaml"
    write_board(board, site.entries, refresh={"every": "1h"})
    command = ("crawl", "news.yaml", "-o", "items.jsonl", *options)

    done = weft(*command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    items = read_lines(weft.directory / "items.jsonl")
    check_articles(items, site.newsroom)
    check_duplicates(items, site.newsroom)
    asked = urls_of(site.hits())
    assert len(asked) == len(set(asked))

    # Nothing is due, whatever is new.
    site.publish(1)
    site.forget()
    again = weft(*command)
    assert again.returncode == 0, again.stderr
    assert urls_of(site.hits()) == []

    # All lists are due, and bring what is new; articles are not fetched again.
    write_board(board, site.entries, refresh={"every": "1s", "at_least": "1s", "at_most": "1s"})
    stored = {item["url"].partition("://")[2] for item in items}
    fresh = weft(*command, "--fresh")
    assert fresh.returncode == 0, fresh.stderr
    site.publish(2)
    site.forget()

    def are_found() -> bool:
        """Those lists that were visited last are due a little later than the others."""
        later = weft(*command)
        assert later.returncode == 0, later.stderr
        items = read_lines(weft.directory / "items.jsonl")
        return wanted(site.newsroom).keys() <= {item["url"] for item in items}

    wait_until(are_found, timeout_s=30, description="what was published is found")
    check_articles(read_lines(weft.directory / "items.jsonl"), site.newsroom)
    asked = urls_of(site.hits())
    port = site.entries[0].rstrip("/").rpartition(":")[2]
    articles = {url.replace(f":{port}", "") for url in stored}
    assert not articles & set(asked)

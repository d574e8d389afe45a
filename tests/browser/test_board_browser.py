"""A board finds what only scripts write, if it may use a browser."""

import pytest

from newsrooms import check_articles, read_lines, wanted, write_board
from running import Weft
from weft.testing.newsroom import NewsroomServer


@pytest.mark.usefixtures("has_chromium")
@pytest.mark.timeout(180)
def test_a_section_that_scripts_write_is_crawled_by_a_browser(weft: Weft) -> None:
    with NewsroomServer() as site:
        board = {"browser": "auto", "refresh": {"every": "1h"}}
        write_board(weft.directory / "news.yaml", site.entries, **board)
        done = weft("crawl", "news.yaml", "-o", "items.jsonl")
        assert done.returncode == 0, done.stderr
        assert wanted(site.newsroom, has_browser=True).keys() > wanted(site.newsroom).keys()
        check_articles(read_lines(weft.directory / "items.jsonl"), site.newsroom, has_browser=True)

"""What the next run of a job does: it resumes if something is left, and else starts afresh."""

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from scrapyproject import ScrapyProject, paths_of
from weft.testing import SiteServer

Run = Callable[..., list[CompletedProcess[str]]]

NOWHERE = "http://nowhere.invalid/"
RESUMES = " continues: "


@pytest.fixture
def project(tmp_path: Path) -> ScrapyProject:
    return ScrapyProject(tmp_path / "project")


@pytest.fixture(params=["embedded", "two workers"])
def run(request: pytest.FixtureRequest, project: ScrapyProject) -> Run:
    """Runs the project's spider to its end, in one process or in two that share a Redis."""
    if request.param == "embedded":
        return lambda **arguments: [project.crawl(**arguments)]
    store = {"WEFT_STORE": request.getfixturevalue("redis_server").url}
    return lambda **arguments: project.crawl_twice_at_once(store, **arguments)


def resumed(ended: list[CompletedProcess[str]]) -> list[str]:
    """The log lines that say that the job goes on."""
    return [line for each in ended for line in each.stderr.splitlines() if RESUMES in line]


def test_a_link_to_a_host_that_does_not_exist_leaves_the_next_runs_their_items(
    run: Run, site: SiteServer
) -> None:
    for _ in range(3):
        ended = run(urls=f"{site.url}p/1.html", links=NOWHERE)
        assert set(paths_of(ended)) == {"/p/1.html"}
        assert [each.returncode for each in ended] == [0] * len(ended), ended


def test_a_spider_that_closed_itself_with_nothing_left_starts_afresh(
    run: Run, site: SiteServer
) -> None:
    for _ in range(3):
        ended = run(urls=f"{site.url}p/1.html", close_on="/p/1.html")
        assert set(paths_of(ended)) == {"/p/1.html"}


def test_a_start_that_fails_leaves_the_next_runs_their_items(run: Run, site: SiteServer) -> None:
    for _ in range(2):
        ended = run(urls=f"{site.url}p/1.html", start_fails="yes")
        assert "(start_error)" in ended[0].stderr
        assert set(paths_of(ended)) == {"/p/1.html"}


def test_a_crawl_that_died_with_nothing_left_starts_afresh(
    project: ScrapyProject, site: SiteServer
) -> None:
    kill = {"ITEM_PIPELINES": '{"shop.spiders.KillPipeline": 1}'}
    killed = project.crawl(urls=f"{site.url}p/1.html", settings=kill)
    assert killed.returncode == -9
    assert paths_of([project.crawl(urls=f"{site.url}p/1.html")]) == ["/p/1.html"]


@pytest.mark.parametrize(
    ("limit", "reason"),
    [("CLOSESPIDER_PAGECOUNT", "closespider_pagecount"), ("WEFT_MAX_PAGES", "max_pages")],
)
def test_a_run_that_resumes_says_so_once_with_counts_and_the_way_to_start_over(
    limit: str, reason: str, project: ScrapyProject, site: SiteServer
) -> None:
    urls = " ".join(f"{site.url}p/{n}.html" for n in (1, 2, 3))
    first = project.crawl(urls=urls, settings={limit: 1, "CONCURRENT_REQUESTS": 1})
    assert f"Closing spider ({reason})" in first.stderr
    assert resumed([first]) == []
    second = project.crawl(urls=urls)
    [line] = resumed([second])
    assert re.search(r"INFO: The job shop-\w{12} continues: \d queued, \d done\.", line)
    assert "-s WEFT_FRESH=1" in line
    assert paths_of([first, second]) == ["/p/1.html", "/p/2.html", "/p/3.html"]
    third = project.crawl(urls=urls)
    assert resumed([third]) == []
    assert paths_of([third]) == ["/p/1.html", "/p/2.html", "/p/3.html"]

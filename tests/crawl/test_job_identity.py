"""Which runs belong to one job: those with the same project, spider and arguments."""

import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from launchers.redis import RedisServer
from running import Weft
from scrapyproject import ScrapyProject, paths_of
from weft.testing import Site, SiteServer
from weft.testing.waiting import wait_until

STOP = {"CONCURRENT_REQUESTS": "1", "CLOSESPIDER_PAGECOUNT": "1"}


@pytest.fixture
def project(tmp_path: Path) -> ScrapyProject:
    return ScrapyProject(tmp_path / "project")


def pages(site: SiteServer, *numbers: int) -> str:
    return " ".join(f"{site.url}p/{number}.html" for number in numbers)


def jobs_of(project: ScrapyProject) -> set[str]:
    return {path.name for path in (project.directory / ".weft").iterdir()}


def continues(ended: CompletedProcess[str]) -> bool:
    return " continues: " in ended.stderr


@pytest.mark.parametrize("is_shared", [False, True], ids=["embedded", "redis"])
def test_other_arguments_make_another_job(
    is_shared: bool, project: ScrapyProject, site: SiteServer, request: pytest.FixtureRequest
) -> None:
    store = {"WEFT_STORE": request.getfixturevalue("redis_server").url} if is_shared else {}
    first = project.crawl(settings=STOP | store, urls=pages(site, 1, 2, 3), category="a")
    other = project.crawl(settings=store, urls=pages(site, 5, 6), category="b")
    assert not continues(other)
    assert paths_of([other]) == ["/p/5.html", "/p/6.html"]
    again = project.crawl(settings=store, category="a", urls=pages(site, 1, 2, 3))
    assert continues(again)
    assert paths_of([first, again]) == ["/p/1.html", "/p/2.html", "/p/3.html"]


def test_a_spider_without_arguments_has_a_job_of_its_name(project: ScrapyProject) -> None:
    assert project.crawl().returncode == 0
    assert jobs_of(project) == {"shop"}


def test_weft_and_scrapy_find_the_same_job(project: ScrapyProject, site: SiteServer) -> None:
    weft = Weft(project.directory)
    arguments = ("-a", "category=a", "-a", f"urls={pages(site, 1, 2, 3)}")
    first = weft("crawl", "shop", *arguments, "--max-pages", "1", "--concurrency", "1")
    [job] = jobs_of(project)
    assert f"The job is {job}: `weft items --job {job}`" in first.stdout
    second = project.crawl(settings=STOP, urls=pages(site, 1, 2, 3), category="a")
    assert f"The job {job} continues: " in second.stderr
    third = weft("crawl", "shop", *arguments)
    assert re.search(
        rf"^The job {job} continues: \d queued, \d done\. --fresh starts over\.$",
        third.stderr,
        re.MULTILINE,
    )
    assert weft("items", "--job", job).stdout.endswith("\n3 items.\n")
    assert "Finished" in weft("frontier", "stats", "--job", job).stdout
    for command in (("items",), ("frontier", "stats")):
        told = weft(*command, "--job", "shop").stderr
        assert f"there are jobs with arguments: {job}; use --job" in " ".join(told.split())
    assert "Nothing to do" in weft("crawl", "shop", *arguments).stdout


def test_scrapyd_names_the_job(
    project: ScrapyProject, site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRAPY_JOB", "6487ec79")
    first = project.crawl(settings=STOP, urls=pages(site, 1, 2), _job="6487ec79")
    assert jobs_of(project) == {"6487ec79"}
    again = project.crawl(urls=pages(site, 1, 2), _job="6487ec79")
    assert continues(again)
    assert paths_of([first, again]) == ["/p/1.html", "/p/2.html"]
    project.crawl(settings={"WEFT_JOB": "mine"}, urls=pages(site, 1))
    assert jobs_of(project) == {"6487ec79", "mine"}


def test_a_jobdir_names_the_job_in_redis(
    project: ScrapyProject, site: SiteServer, redis_server: RedisServer
) -> None:
    store = {"WEFT_STORE": redis_server.url}
    for job_dir in ("jobs/shop-1", "jobs/shop-2"):
        ended = project.crawl(settings={**STOP, **store, "JOBDIR": job_dir})
        assert ended.returncode == 0, ended.stderr
    listed = Weft(project.directory)("jobs", "--store", redis_server.url).stdout
    assert re.findall(r"shop-\S+", listed) == ["shop-1", "shop-2"]


def test_two_workers_make_a_jobdir_at_the_same_time(
    project: ScrapyProject, site: SiteServer, redis_server: RedisServer
) -> None:
    settings = {"WEFT_STORE": redis_server.url, "JOBDIR": "jobs/deep/one"}
    ended = project.crawl_twice_at_once(settings, urls=pages(site, 1, 2))
    assert [each.returncode for each in ended] == [0, 0]
    assert set(paths_of(ended)) == {"/p/1.html", "/p/2.html"}


# JOBDIR of plain Scrapy


def test_a_jobdir_with_a_queue_of_plain_scrapy_is_refused(
    project: ScrapyProject, site: SiteServer
) -> None:
    off = {"WEFT_ENABLED": "False", "JOBDIR": "job"}
    plain = project.crawl(settings=STOP | off, urls=pages(site, 1, 2, 3, 5, 6, 7))
    assert (project.directory / "job/requests.queue").is_dir()
    left = sorted((project.directory / "job").rglob("*"))
    refused = project.crawl(settings={"JOBDIR": "job"}, urls=pages(site, 1, 2, 3, 5, 6, 7))
    assert refused.returncode == 1
    assert "JOBDIR: job has requests that plain Scrapy has left (requests.queue)" in refused.stderr
    assert "-s WEFT_ENABLED=False" in refused.stderr
    assert sorted((project.directory / "job").rglob("*")) == left
    rest = project.crawl(settings=off, urls=pages(site, 1, 2, 3, 5, 6, 7))
    assert len(paths_of([plain, rest])) == 6
    taken_over = project.crawl(settings={"JOBDIR": "job"}, urls=pages(site, 1))
    assert paths_of([taken_over]) == ["/p/1.html"]


# The same job twice


def test_the_same_crawl_twice_at_once_is_an_error_that_says_what_to_do(
    project: ScrapyProject,
) -> None:
    with SiteServer(Site(pages=2)) as site:
        slow = site.url_of("127.0.0.1", "/slow/20")
        first = project.start(*project.crawl_command(urls=slow))
        wait_until(lambda: site.hits() != [], description="the first is at work")
        second = project.crawl(urls=slow)
        third = Weft(project.directory)("crawl", "shop", "-a", f"urls={slow}")
        other = project.crawl(urls=pages(site, 1))
        first.kill()
        first.communicate()
    assert second.returncode == third.returncode == 1
    for told in (second.stderr, " ".join(third.stderr.split())):
        assert "is in use by another process: is the same crawl running?" in told
        assert "choose another job with --job (WEFT_JOB)" in told
        assert "redis://HOST:PORT/DB is one that several processes can share" in told
        assert "Traceback" not in told
    assert "(finished)" not in second.stderr
    assert (other.returncode, paths_of([other])) == (0, ["/p/1.html"])


# Projects


def test_another_project_does_not_go_on_with_a_job_by_accident(
    site: SiteServer, redis_server: RedisServer, tmp_path: Path
) -> None:
    shop = ScrapyProject(tmp_path / "shop", name="shop")
    news = ScrapyProject(tmp_path / "news", name="news")
    store = {"WEFT_STORE": redis_server.url}
    first = shop.crawl(settings=store | STOP, urls=pages(site, 1, 2))
    refused = news.crawl(settings=store, urls=pages(site, 1, 2))
    assert refused.returncode == 1
    assert paths_of([refused]) == []
    assert "belongs to the project shop, and this is news (BOT_NAME)" in refused.stderr
    assert "choose another name with --job (WEFT_JOB)" in refused.stderr
    by_weft = Weft(news.directory)(
        *("crawl", "shop", "-a", f"urls={pages(site, 1, 2)}", "--store", redis_server.url)
    )
    assert by_weft.returncode == 1
    assert "belongs to the project shop" in " ".join(by_weft.stderr.split())
    named = news.crawl(settings=store | {"WEFT_JOB": "news"}, urls=pages(site, 5))
    assert paths_of([named]) == ["/p/5.html"]
    rest = shop.crawl(settings=store, urls=pages(site, 1, 2))
    assert paths_of([first, rest]) == ["/p/1.html", "/p/2.html"]

"""Scrapy's commands that look at pages do the same with the add-on, and have no job."""

import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from running import Python
from scrapyproject import ScrapyProject, paths_of
from weft.engine.naming import name_job
from weft.testing import SiteServer

PAGE = "p/1.html"

#: What each command is given, and what it must print.
COMMANDS = {
    "shell": (["-c", "(response.status, spider.name)", "{site}" + PAGE], "(200, 'default')"),
    "shell-spider": (["--spider", "shop", "-c", "fetch('{site}p/2.html') or response.url"], "p/2"),
    "fetch": (["{site}" + PAGE], "<title>"),
    "fetch-spider": (["--spider", "shop", "{site}" + PAGE], "<title>"),
    "parse": (["--spider", "shop", "--nocolour", "{site}" + PAGE], "[{'url': 'http"),
    "check": (["shop"], ""),
}


@pytest.fixture
def plain(site: SiteServer, tmp_path: Path) -> ScrapyProject:
    return ScrapyProject(tmp_path / "plain", site=site.url, is_plain=True)


@pytest.fixture
def project(site: SiteServer, tmp_path: Path) -> ScrapyProject:
    return ScrapyProject(tmp_path / "weft", site=site.url)


@pytest.fixture
def paused(project: ScrapyProject, site: SiteServer) -> Iterator[ScrapyProject]:
    """A project with a job that has pages left; nothing may happen to it."""
    urls = " ".join(f"{site.url}p/{n}.html" for n in (1, 2, 3))
    stop = {"CONCURRENT_REQUESTS": 1, "CLOSESPIDER_PAGECOUNT": 1, "JOBDIR": "job"}
    first = project.crawl(urls=urls, settings=stop)
    settings = project.directory / "shop/settings.py"
    settings.write_text(f"{settings.read_text()}JOBDIR = 'job'\n")
    before = files_in(project.directory / "job")
    site.forget()
    yield project
    assert files_in(project.directory / "job") == before
    assert not (project.directory / ".weft").exists()
    second = project.crawl(urls=urls)
    assert paths_of([first, second]) == ["/p/1.html", "/p/2.html", "/p/3.html"]


def files_in(directory: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in directory.rglob("*") if path.is_file()}


def run(project: ScrapyProject, command: str, site: SiteServer) -> CompletedProcess[str]:
    arguments, _ = COMMANDS[command]
    words = [word.replace("{site}", site.url) for word in arguments]
    return project(command.split("-")[0], *words, timeout=60)


def told(ended: CompletedProcess[str]) -> tuple[int, str, list[str]]:
    """The exit code, what was printed, and how contracts did."""
    checked = re.findall(r"^(?:Ran \d+ contracts?|OK|FAILED.*)", ended.stderr, re.MULTILINE)
    return ended.returncode, ended.stdout, checked


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_inspects_does_the_same_on_a_paused_job(
    command: str, plain: ScrapyProject, paused: ScrapyProject, site: SiteServer
) -> None:
    ended = run(paused, command, site)
    asked = [hit.path for hit in site.hits()]
    assert told(ended) == told(run(plain, command, site))
    assert COMMANDS[command][1] in ended.stdout
    assert ended.returncode == 0
    assert len(asked) == 1, asked
    assert "frontier/" not in ended.stderr


def test_check_runs_contracts_and_fails_with_them(project: ScrapyProject) -> None:
    assert "Ran 1 contract in" in project("check").stderr
    spiders = project.directory / "shop/spiders.py"
    # Another size, too: Python may not notice another text of the same second and size.
    spiders.write_text(spiders.read_text().replace("items 1 1", "items 50 50"))
    failed = project("check")
    assert failed.returncode == 1
    assert "FAILED (failures=1)" in failed.stderr
    assert not (project.directory / ".weft").exists()


def test_view_opens_the_page_in_a_browser(
    project: ScrapyProject, site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "echo %s")
    seen = project("view", f"{site.url}{PAGE}")
    [path] = re.findall(r"file://(\S+)", seen.stdout)
    assert "<title>" in Path(path).read_text()
    assert not (project.directory / ".weft").exists()


def test_bench_measures_plain_scrapy(project: ScrapyProject) -> None:
    ended = project("bench", "-s", "CLOSESPIDER_PAGECOUNT=1")
    assert ended.returncode == 0
    assert "closespider_pagecount" in ended.stderr
    assert "frontier/added" not in ended.stderr
    assert not (project.directory / ".weft").exists()


def test_a_shell_ends_with_its_input(project: ScrapyProject, site: SiteServer) -> None:
    """The nursery's children read from /dev/null."""
    ended = project("shell", f"{site.url}{PAGE}", timeout=60)
    assert ended.returncode == 0
    assert f"<200 {site.url}{PAGE}>" in ended.stdout + ended.stderr


SCRIPTS = {
    "execute": """
from scrapy.cmdline import execute
execute(["scrapy", "crawl", "shop", "-a", "urls={url}"])
""",
    "process": """
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
process = CrawlerProcess(get_project_settings())
process.crawl("shop", urls="{url}")
process.start()
""",
}


@pytest.mark.parametrize("command", ["crawl", "runspider", *SCRIPTS])
def test_what_crawls_runs_on_weft(command: str, project: ScrapyProject, site: SiteServer) -> None:
    """And all of them find the same job."""
    url = f"{site.url}{PAGE}"
    if command in SCRIPTS:
        (project.directory / "script.py").write_text(SCRIPTS[command].replace("{url}", url))
        ended = Python(project.directory)("script.py")
    else:
        spider = "shop" if command == "crawl" else "shop/spiders.py"
        ended = project(command, spider, "-a", f"urls={url}")
    assert ended.returncode == 0, ended.stderr
    assert "'frontier/added': 1" in ended.stderr
    [job] = (project.directory / ".weft").iterdir()
    assert job.name == name_job("shop", {"urls": url})

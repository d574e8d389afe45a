"""The documents tell the truth: settings, commands, words and errors are documented."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from newsrooms import check_articles, read_lines
from running import Weft
from weft.engine.settings import SETTINGS
from weft.services.boards import check_files
from weft.testing import Site, SiteServer
from weft.testing.newsroom import NewsroomServer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
NEWS_SITE = "https://news.example.org/"


def test_every_setting_is_documented_with_its_default() -> None:
    table = (ROOT / "docs/settings.md").read_text()
    rows = dict(re.findall(r"^\| `(WEFT_\w+)` \| `([^`]*)` \|", table, re.MULTILINE))
    assert rows == {name: repr(default).replace("'", '"') for name, default in SETTINGS.items()}


def test_the_words_of_the_glossary_are_sorted_out() -> None:
    words = re.findall(r"^\| ([\w -]+) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "ARCHITECTURE.md", "docs/boards.md", "docs/extraction.md"),
        *("docs/guarantees.md", "docs/items.md", "docs/moving.md", "docs/settings.md"),
        *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("examples/*/README.md"))),
    ],
)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    path = ROOT / name
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / link).exists(), link


def test_the_figures_of_the_readme_are_those_of_the_run_that_it_names() -> None:
    words = " ".join(README.split())
    [(pages, of_scrapy, of_scrapy_redis, unchanged, day)] = re.findall(
        r"for ([\d,]+) pages of 30 KB with 60 links it took a (\w+) of plain Scrapy's CPU, and on "
        r"Redis a (\w+) of scrapy-redis'; a Scrapy spider that stayed as it was took ([\w ]+) "
        r"\(\[the run of ([\d-]+)\]\(docs/performance.md#weft-beside-its-peers\)\)",
        words,
    )
    text = (ROOT / "docs/performance.md").read_text().split("## Weft beside its peers")[1]
    run = text[: text.index("\n* ok ")]
    assert f"* {day}," in run
    rows = {
        cells[0]: cells
        for line in run.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 10
    }
    embedded, shared, same = (
        rows[name]
        for name in (
            "Weft, embedded",
            "Weft on Redis, 1 worker",
            "Scrapy spider on Weft, unchanged",
        )
    )
    assert embedded[-1] == f"all {pages}"
    beside_scrapy, beside_scrapy_redis = 6, 7
    parts = {"tenth": 1 / 10, "fifteenth": 1 / 15, "two fifths": 2 / 5}
    assert float(embedded[beside_scrapy]) == pytest.approx(parts[of_scrapy], rel=0.1)
    assert float(shared[beside_scrapy_redis]) == pytest.approx(parts[of_scrapy_redis], rel=0.1)
    assert float(same[beside_scrapy]) == pytest.approx(parts[unchanged], rel=0.1)


def shell_lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = (line.split("#")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line]


def test_the_two_commands_of_the_readme_are_targets_of_make() -> None:
    targets = [line.split()[1] for line in shell_lines() if line.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        command = ["make", "--dry-run", target]
        assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0
    assert "make test" in (ROOT / ".ci/run").read_text()


def test_every_weft_command_of_the_readme_works(weft: Weft, tmp_path: Path) -> None:
    """As it stands there, but for the addresses of the sites."""
    make_project(tmp_path)
    lines = [line for line in shell_lines() if line.startswith("weft ")]
    assert len(lines) >= 5
    with SiteServer(Site(pages=12)) as server, NewsroomServer(papers=["courier"]) as newsroom:
        [front_page] = newsroom.entries
        for line in lines:
            told = line.replace(NEWS_SITE, front_page).replace("https://example.org/", server.url)
            words = shlex.split(told)[1:]
            if words[0] in ("frontier", "stats"):
                job = next((tmp_path / ".weft").glob("127.0.0.1-*")).name
                words += ["--job", job]
            if "myspider.py" in words or "name_of_a_spider_of_this_project" in words:
                words += ["-a", f"url={server.url}"]
            if words[0] == "items" and "--job" not in words:
                [job_dir] = (tmp_path / ".weft").glob("name_of_a_spider_of_this_project-*")
                words += ["--job", job_dir.name]
            ended = weft(*words)
            assert ended.returncode == 0, (line, ended.stderr)
        check_board(tmp_path / "news.yaml", front_page)
        check_articles(read_lines(tmp_path / "news.jsonl"), newsroom.newsroom)


def check_board(path: Path, front_page: str) -> None:
    """That the README shows the board that its commands write."""
    [shown] = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    copy = path.with_name("shown.yaml")
    copy.write_text(shown.replace(NEWS_SITE, front_page))
    [written], [wanted] = check_files([path]), check_files([copy])
    assert written.source is not None, written.mistakes
    assert wanted.source is not None, wanted.mistakes
    assert written.source.board == wanted.source.board


def make_project(directory: Path) -> None:
    """A Scrapy project with the add-on as the README writes it, and a spider file beside it."""
    spider = """
import scrapy

class MySpider(scrapy.Spider):
    name = "NAME"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""
    package = directory / "project/spiders"
    package.mkdir(parents=True)
    [addon] = re.findall(r"```python\n(ADDONS.*?)```", README, re.DOTALL)
    (directory / "scrapy.cfg").write_text("[settings]\ndefault = project.settings\n")
    (directory / "project/__init__.py").touch()
    (package / "__init__.py").touch()
    (directory / "project/settings.py").write_text(f"SPIDER_MODULES = ['project.spiders']\n{addon}")
    name = "name_of_a_spider_of_this_project"
    (package / "mine.py").write_text(spider.replace("NAME", name))
    (directory / "myspider.py").write_text(spider.replace("NAME", "my"))


@pytest.mark.usefixtures("_fresh_interpreters")
def test_the_version_is_told(weft: Weft) -> None:
    assert re.match(r"weft \d+\.\d+", weft("--version").stdout)


def test_importing_weft_does_not_import_scrapy() -> None:
    code = "import weft, sys; assert 'scrapy' not in sys.modules; weft.Addon"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

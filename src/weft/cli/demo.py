"""`weft demo`"""

import asyncio
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from weft.boards.board import read_board
from weft.cli import INTERRUPTED
from weft.cli.crawl import crawl_and_report
from weft.cli.output import count, results, say, show
from weft.config import DEFAULT_JOBS_DIR
from weft.demo.newsroom import Newsroom
from weft.demo.newsroom.papers import BY_NAME, Paper
from weft.errors import ConfigError
from weft.services.boards import problem_of_sink
from weft.services.crawls import PlannedCrawl, plan_crawl
from weft.services.items import find_items, read_items
from weft.testing.newsroom import NewsroomServer

#: The name of the board, and of its job.
NAME = "demo"
#: Articles of a section in the table.
ROWS = 2

Article = Mapping[str, Any]


def demo() -> None:
    """Crawl a bundled news site on this machine and show its articles."""
    lacking = _lacking_browser()
    with NewsroomServer(by_port=True) as site:  # a Mac has no second address for a second paper
        newsroom = site.newsroom
        board = _board(site.entries, has_browser=not lacking)
        say("Three newspapers of an invented bay are served on this machine.")
        say(f"All that Weft is told of them is this board:\n\n{board}")
        code = crawl_and_report(_planned(board), is_fresh=True, continues=False)
    if code == INTERRUPTED:
        say("The next `weft demo` starts over.")
        sys.exit(code)
    articles = asyncio.run(_stored())
    show(_table(newsroom, articles))
    _tell_missing(newsroom, articles, lacking)
    _tell_more(newsroom)
    sys.exit(code)


def _lacking_browser() -> str:
    """Why pages cannot be rendered here; empty if they can."""
    # Imported here because it loads Scrapy.
    from weft.engine.browser.config import BrowserConfig
    from weft.engine.browser.finding import check_browser

    try:
        check_browser(BrowserConfig())
    except ConfigError as error:
        return str(error)
    return ""


def _board(entries: Sequence[str], *, has_browser: bool) -> str:
    lines = [f"name: {NAME}", "entries:", *(f"  - {entry}" for entry in entries)]
    return "\n".join([*lines, *["browser: auto"] * has_browser]) + "\n"


def _planned(board: str) -> PlannedCrawl:
    from weft.engine.target import BOARDS

    # Its problems are told by `weft board show`.
    own = {
        "WEFT_STORE": f"rocks://{DEFAULT_JOBS_DIR / NAME}",
        "WEFT_JOB": NAME,
        "LOG_LEVEL": "ERROR",
    }
    source = read_board(board.encode(), f"{NAME}.yaml", problem_of_sink)
    return replace(plan_crawl([BOARDS], {}, own), boards=[source])


async def _stored() -> list[Article]:
    return [item.fields async for item in read_items(find_items(None, NAME))]


# What was found


def _table(newsroom: Newsroom, articles: Sequence[Article]) -> Table:
    told = f"{count(len(articles), 'article')}, the newest of each section"
    table = Table(title=told, box=SIMPLE_HEAD, pad_edge=False, expand=results.is_terminal)
    for name, ratio in {"section": None, "title": 3, "date": None, "author": 1}.items():
        table.add_column(name, no_wrap=True, ratio=ratio)  # where there is no room, titles are cut
    titles = {article["url"]: article["title"] for article in articles}
    for name, base in newsroom.bases.items():
        paper = BY_NAME[name]
        own = [article for article in articles if article["url"].startswith(f"{base}/")]
        about = f"{paper.title}, {paper.language}, {count(len(own), 'article')}"
        table.add_section()
        table.add_row("", Text(about, "bold"))
        for section, article in _newest(paper, base, own):
            title = Text(article["title"])
            if first := article["duplicate_of"]:
                title.append(f"\n  repeats: {titles.get(first, first)}", "dim")
            authors = ", ".join(article["authors"])
            table.add_row(section, title, article["published"][:10], Text(authors))
    return table


def _newest(paper: Paper, base: str, articles: Sequence[Article]) -> Iterator[tuple[str, Article]]:
    """Some of each section, with its title. Those that repeat another come first."""
    for section in paper.sections:
        own = [each for each in articles if each["url"].startswith(base + section.folder)]
        own.sort(key=lambda each: (bool(each["duplicate_of"]), each["published"]), reverse=True)
        for article in own[:ROWS]:
            yield section.title, article


def _tell_missing(newsroom: Newsroom, articles: Sequence[Article], lacking: str) -> None:
    found = {article["url"] for article in articles}
    missing = newsroom.stories().keys() - found
    if missing:
        why = lacking or "see what `weft board show` says"
        say(f"{count(len(missing), 'article')} of the section Live are missing: {why}\n")


def _tell_more(newsroom: Newsroom) -> None:
    """Commands, explained above them: not every shell knows comments."""
    weft, page = _program(), newsroom.url("courier")
    say(f"""\
Each story once:
  {weft} items --job {NAME} --unique
The Chinese ones, for a spreadsheet:
  {weft} items --job {NAME} --where language=zh-CN --format csv > articles.csv
What became of the pages (some are broken or without end, on purpose):
  {weft} board show {NAME}
When a page is visited again, and why:
  {weft} frontier explain {page} --job {NAME}
A board for a site that you want to follow:
  {weft} board preview https://example.org/news/ -o news.yaml""")


def _program() -> str:
    """How to run this program; `make demo` runs one that may not be on PATH."""
    own = Path(sys.argv[0])
    is_script = own.stem == "weft" and not shutil.which("weft")
    return shlex.quote(str(own)) if is_script else "weft"

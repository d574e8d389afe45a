"""Crawls whole labelled sites by boards that name only the home page.

    python -m bench.boards PAGES

`PAGES` is a directory with a folder for each site: `labels.jsonl`, a line for each page with its
`url`, `file` (gzipped) and `kind` (`data` for articles). Each site is served on loopback, its own
absolute links with it, and crawled. The table shows how many of its articles were stored, and how
much of what was stored is no article. Above it stand the pages that were missed or should not
be there.
"""

import sys
import tempfile
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.boards.run import Result, crawl_site
from bench.boards.site import LabelledSite, read_site


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    folders = sorted(path.parent for path in Path(arguments[0]).rglob("labels.jsonl"))
    sites = [site for folder in folders if (site := read_site(folder)) is not None]
    if not sites:
        print(f"there is no whole site below {arguments[0]}: a folder with labels.jsonl and pages")
        return 1
    table = Table("site", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("pages", "articles", "stored", "missed", "no articles", "fetched", "CPU s"):
        table.add_column(name, justify="right")
    for site in sites:
        with tempfile.TemporaryDirectory() as scratch:
            result = crawl_site(site, Path(scratch))
        table.add_row(*_row(site, result))
        _tell(site, result)
    Console(width=140).print(table)
    return 0


def _row(site: LabelledSite, result: Result) -> list[str]:
    stored, articles = result.stored, site.articles
    found = len(stored & articles)
    wrong = len(stored - articles)
    return [
        site.name,
        str(len(site.pages)),
        str(len(articles)),
        f"{found} ({100 * found / len(articles):.1f} %)",
        str(len(articles) - found),
        f"{wrong} ({100 * wrong / max(1, len(stored)):.1f} %)",
        str(result.fetched),
        f"{result.cpu_s:.1f}",
    ]


def _tell(site: LabelledSite, result: Result) -> None:
    missed = site.articles - result.stored
    linked = site.linked()
    for what, paths in (
        ("missed", missed & linked),
        ("missed, no page links to it", missed - linked),
        ("no article", result.stored - site.articles),
    ):
        for path in sorted(paths)[:40]:
            print(f"{site.name}: {what}: {path}")


sys.exit(main(sys.argv[1:]))

"""`weft demo`"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec
from rich.table import Table

from weft.cli.crawl import crawl_and_report
from weft.cli.output import results, say
from weft.config import DEFAULT_ITEMS, DEFAULT_JOBS_DIR
from weft.services.crawls import plan_crawl
from weft.testing import Site, SiteServer
from weft.urls import host_key

#: Rows of the table; the rest is in the file.
ROWS = 25


def demo() -> None:
    """Crawl a bundled site on this machine and show what was found."""
    job_dir = DEFAULT_JOBS_DIR / "demo"
    with SiteServer(Site(theme="demo")) as server:
        say(f"Serving a small news and bookshop site at {server.url}")
        crawl = plan_crawl([server.url], {}, {"WEFT_STORE": f"rocks://{job_dir}"})
        code = crawl_and_report(crawl, is_fresh=True)
    show_pages(job_dir / DEFAULT_ITEMS)
    sys.exit(code)


def show_pages(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT item FROM items ORDER BY id").fetchall()
    pages = [msgspec.json.decode(item) for (item,) in rows]
    table = Table(title=f"{len(pages)} crawled pages", expand=True)
    for name in ("page", "title"):
        table.add_column(name, no_wrap=True, ratio=1)
    for name in ("depth", "characters"):
        table.add_column(name, justify="right", min_width=len(name))
    for page in pages[:ROWS]:
        path_of_page = page["url"].split(host_key(page["url"]), 1)[-1].partition("/")[2]
        table.add_row(
            f"/{path_of_page}", page["title"], str(page["depth"]), f"{page['text_length']:,}"
        )
    if len(pages) > ROWS:
        table.add_row("…", f"and {len(pages) - ROWS} more", "", "")
    results.print(table)
    say(f"All of them: sqlite3 {path} 'select item from items'")

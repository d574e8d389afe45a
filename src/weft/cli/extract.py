"""`weft extract`: shows what Weft makes of pages."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from weft.boards.fields import NO_RULES, load_rules
from weft.boards.reading.reading import DEFAULT_SECONDS, ReadOptions
from weft.cli.output import errors, say, warn
from weft.cli.readingreport import report_lines
from weft.clock import today
from weft.errors import ConfigError
from weft.services.readings import STDIN, PageSource, as_object, read_pages


def extract(
    pages: Annotated[
        list[str],
        typer.Argument(
            metavar="PAGE",
            help="Files, URLs, or - for standard input.",
            show_default=False,
        ),
    ],
    url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The URL of a page that is a file or comes from standard input. Default: what "
            "the page calls its own; without any, relative links cannot be resolved.",
            show_default=False,
        ),
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each page, a line each.")
    ] = False,
    fast: Annotated[
        bool,
        typer.Option("--fast", help="A tenth of the time; bodies with more around them."),
    ] = False,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A YAML file that says where fields are: CSS, XPath, regular expressions. "
            "See docs/extraction.md.",
            show_default=False,
        ),
    ] = None,
    as_article: Annotated[
        bool,
        typer.Option("--as-article", help="Read each page as an article, whatever it looks like."),
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Give up a page that takes longer.")
    ] = DEFAULT_SECONDS,
) -> None:
    """Show what a page is, its article, its topic links and its next page.

        weft extract https://example.org/story.html
        weft extract saved/*.html --json > articles.jsonl
        curl -s URL | weft extract - --url URL

    Exits with 1 if a page could not be read.
    """
    if url and len(pages) > 1:
        raise ConfigError("--url is the URL of one page, but there are several")
    options = ReadOptions(
        seconds=seconds,
        is_fast=fast,
        is_article=as_article,
        rules=load_rules(rules) if rules else NO_RULES,
    )
    if pages.count(STDIN) > 1:
        raise ConfigError("standard input (-) can only be read once")
    sources = [PageSource(page, url) for page in pages]
    failed = asyncio.run(_show(sources, options, as_json=as_json))
    if failed:
        sys.exit(1)


async def _show(sources: Sequence[PageSource], options: ReadOptions, *, as_json: bool) -> int:
    """Print a report or an object for each page; returns how many could not be read."""
    failed = 0
    with errors.status("") as status:
        number = 0
        async for page in read_pages(sources, options, today()):
            number += 1
            if len(sources) > 1:
                status.update(f"{number:,} of {len(sources):,} pages read")
            if page.problem:
                failed += 1
                warn(f"weft: {page.source}: {page.problem}", "red")
            if as_json:
                sys.stdout.buffer.write(msgspec.json.encode(as_object(page)) + b"\n")
                sys.stdout.buffer.flush()  # who reads it wants it as it comes
            elif page.reading:
                for line in report_lines(page.source, page.reading):
                    say(line)
    if len(sources) > 1:
        warn(f"{number - failed:,} of {len(sources):,} pages read")
    return failed

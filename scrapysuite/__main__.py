"""`python -m scrapysuite`: what `make scrapy-suite` runs."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import scrapy
import typer

from launchers.redis import RedisServer
from scrapysuite.report import make_table
from scrapysuite.run import run_on_weft, run_plain
from scrapysuite.source import default_cache, fetch
from scrapysuite.verdicts import (
    DIFFERENCES,
    Comparison,
    Verdicts,
    compare,
    read_differences,
    twin,
)
from weft.cli import ending_in_a_line
from weft.cli.output import count, say, warn


def suite(
    tests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEST]...",
            help="Files or ids of tests, as pytest takes them: tests/test_crawl.py. Default: all.",
            show_default=False,
        ),
    ] = None,
    redis: Annotated[
        bool, typer.Option("--redis", help="On a Redis instead of the embedded store.")
    ] = False,
    keyword: Annotated[
        str, typer.Option("-k", metavar="WORDS", help="Only these tests, as in pytest.")
    ] = "",
    traceback: Annotated[
        str, typer.Option("--tb", metavar="STYLE", help="How pytest shows failures: short, long.")
    ] = "no",
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where Scrapy's source is kept. Default: weft/scrapy-suite in ~/.cache.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run Scrapy's own tests with Weft's add-on in every crawler.

    The source of the installed Scrapy comes from the package index. Each crawler has a store of its
    own. Scrapy's tests of download handlers and link extractors run on Weft's too. What fails runs
    again without Weft: what fails then too, fails on this machine anyway and does not count.

    differences.toml names every test that may fail with Weft, and why. If another one fails, or
    one of those passes, the exit code is 1.

        python -m scrapysuite
        python -m scrapysuite --redis
        python -m scrapysuite tests/test_crawl.py -k redirect --tb short
    """
    tree = fetch(scrapy.__version__, (cache or default_cache()).absolute())
    selection = [*(tests or []), *(["-k", keyword] if keyword else [])]
    arguments = [f"--tb={traceback}", *([] if tests else ["tests"]), *selection]
    differences = read_differences(DIFFERENCES, is_redis=redis)
    listed = [test for each in differences for test in each.tests]
    with TemporaryDirectory(prefix="weft-suite-") as directory:
        on_weft, plain = _run(tree, Path(directory), arguments, listed, is_redis=redis)
    say(make_table(on_weft, plain))
    compared = compare(on_weft, plain, listed, is_whole=not selection)
    _complain(compared, on_weft)
    sys.exit(0 if compared.is_right else 1)


def _run(
    tree: Path, directory: Path, arguments: Sequence[str], listed: Sequence[str], *, is_redis: bool
) -> tuple[Verdicts, Verdicts]:
    """With Weft, and without it what failed and is not on the list."""
    with _store(directory, is_redis=is_redis) as store:
        on_weft = run_on_weft(tree, directory / "on-weft.jsonl", store, arguments)
    failed = [test for test, verdict in on_weft.items() if verdict.is_failed]
    doubtful = [twin(test) for test in failed if test not in listed]
    if doubtful:
        warn(f"{count(len(doubtful), 'test')} again, without Weft:")
    return on_weft, run_plain(tree, directory / "plain.jsonl", doubtful)


@contextmanager
def _store(directory: Path, *, is_redis: bool) -> Iterator[str]:
    if not is_redis:
        yield str(directory)
        return
    with RedisServer() as server:
        yield server.url


def _complain(compared: Comparison, on_weft: Verdicts) -> None:
    for test in compared.failed:
        say(f"\n{test}\n    {on_weft[test].error}")
    if compared.failed:
        say(
            f"\n{count(len(compared.failed), 'test')} failed with Weft and not without it; "
            f"mend that, or write the reason into {DIFFERENCES.name}"
        )
    for test in compared.passed:
        say(f"{test} passed: remove it from {DIFFERENCES.name}")
    for test in compared.missing:
        say(f"{test} is not there: remove it from {DIFFERENCES.name}")


if __name__ == "__main__":
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command()(suite)
    with ending_in_a_line():
        app()

"""Puts together the commands of `weft`.

Only the requested command is imported. The others have just their name and help, so that
`weft --help` answers at once.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

from weft._version import __version__


class CommandEntry(NamedTuple):
    """Where a command is: a function, or a Typer app with its own commands."""

    module: str
    name: str
    #: The first line of its help.
    about: str


COMMANDS: Mapping[str, CommandEntry] = {
    "crawl": CommandEntry(
        "crawl",
        "crawl",
        "Crawl a site, run a Scrapy spider or crawl boards, without losing anything.",
    ),
    "extract": CommandEntry(
        "extract", "extract", "Show what a page is, its article, its topic links and its next page."
    ),
    "board": CommandEntry(
        "boards",
        "board",
        "Name entry pages in a file, and have their articles found and kept up to date.",
    ),
    "demo": CommandEntry(
        "demo", "demo", "Crawl a bundled news site on this machine and show its articles."
    ),
    "items": CommandEntry(
        "items", "items", "Read back items from the sink where a crawl stored them."
    ),
    "stats": CommandEntry(
        "stats", "stats", "Show the pages, items and failures of a job by day or hour."
    ),
    "frontier": CommandEntry("frontier", "frontier", "Inspect the frontier of a job."),
    "worker": CommandEntry(
        "nodes", "worker", "Make this machine a node that works on the jobs of a store."
    ),
    "nodes": CommandEntry(
        "nodes", "nodes", "List the nodes and their workers: state, load, buckets, pages."
    ),
    "node": CommandEntry("nodes", "node", "Control a node."),
    "jobs": CommandEntry(
        "jobs", "jobs", "List the jobs of a store: state, workers, pages queued and done."
    ),
    "job": CommandEntry("jobs", "job", "Start and control jobs that nodes work on."),
    "master": CommandEntry(
        "master", "master", "Serve the API: boards, jobs and nodes of a store, over HTTP."
    ),
    "token": CommandEntry("tokens", "token", "Say who may use the API of masters."),
    "simulate": CommandEntry("simulate", "simulate", "Simulate what a cluster would do."),
}


def make_app(words: Sequence[str]) -> typer.Typer:
    """`words`: the command line; commands that are not in it are not imported."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        # Rich takes as long to load as everything else.
        rich_markup_mode="markdown" if COMMANDS.keys() & set(words) else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(weft)
    for name, entry in COMMANDS.items():
        command = load(entry) if name in words else _absent
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, help=entry.about if command is _absent else None)(command)
    return app


def load(entry: CommandEntry) -> Callable[..., None] | typer.Typer:
    found: Callable[..., None] | typer.Typer = getattr(
        import_module(f"weft.cli.{entry.module}"), entry.name
    )
    return found


def _absent() -> None:
    raise AssertionError("the requested command is always imported")


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"weft {__version__}")
        raise typer.Exit


def weft(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """A web crawler that loses nothing, hammers nobody and hides nothing.

    `weft demo` shows it at work. `weft crawl https://example.org/` crawls a site; stop it at any
    time, even with `kill -9`: the same command continues where it stopped.
    """

"""The commands of `weft`, put together."""

from typing import Annotated

import typer

from weft._version import __version__
from weft.cli.bench import bench
from weft.cli.crawl import crawl
from weft.cli.demo import demo
from weft.cli.frontier import frontier
from weft.cli.importing import import_scrapy_redis
from weft.cli.items import items
from weft.cli.jobs import job, jobs
from weft.cli.nodes import node, nodes, worker
from weft.cli.simulate import simulate
from weft.cli.stats import stats

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"weft {__version__}")
        raise typer.Exit


@app.callback()
def weft(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """A web crawler that loses nothing, hammers nobody and hides nothing.

    `weft demo` shows it at work. `weft crawl https://example.org/` crawls a site; stop it at any
    time, even with `kill -9`: the same command goes on where it stopped.
    """


app.command()(crawl)
app.command()(demo)
app.command()(items)
app.command()(stats)
frontier.command("import-scrapy-redis")(import_scrapy_redis)
app.add_typer(frontier, name="frontier")
app.command()(worker)
app.command()(nodes)
app.add_typer(node, name="node")
app.command()(jobs)
app.add_typer(job, name="job")
app.add_typer(simulate, name="simulate")
app.command()(bench)

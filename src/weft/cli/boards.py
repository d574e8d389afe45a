"""`weft board`: boards, which a crawl turns into articles and keeps up to date."""

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.boards.board import BoardSource, board_schema
from weft.boards.board.form import problem_of_name
from weft.boards.refresh import in_words
from weft.boards.store import PutStatus
from weft.cli.options import AsJson, StoreUrl
from weft.cli.output import count, errors, results, say, show, warn
from weft.cli.readingreport import report_lines
from weft.clock import SystemClock
from weft.errors import ConfigError
from weft.frontier import JobHome
from weft.services import boards as services
from weft.services import previews
from weft.services.boards import (
    BOARDS_JOB,
    BoardRow,
    ShownBoard,
    boards_home,
    check_files,
    is_board_file,
)

# Typer only keeps the lines of an example apart if two lines of text, or more, stand before it.
board = typer.Typer(
    no_args_is_help=True,
    help="""Name entry pages in a file, and have their articles found and kept up to date.

A board is a YAML file. This is a whole one; save it as news.yaml:

    name: news
    entries:
      - https://example.org/news/

`weft board check news.yaml` tells all of its mistakes, and `weft crawl news.yaml` crawls it. To
crawl many boards together, add each with `weft board add news.yaml`, also while they are crawled
with `weft crawl boards --watch`.""",
)

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="YAML files, a board in each.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the board.")]
BoardsJob = Annotated[
    str | None,
    typer.Option(
        "--job",
        metavar="NAME",
        help="The job that has the board. Default: where it is found.",
        show_default=False,
    ),
]
NewBoardsJob = Annotated[
    str,
    typer.Option("--job", metavar="NAME", help="The job that crawls the boards."),
]


# weft board check, add, schema


@board.command()
def check(files: Files) -> None:
    """Tell all mistakes of boards, each with its line and what to do about it.

    Needs no store and fetches nothing.
    Exits with 1 if there is a mistake.

        weft board check boards/*.yaml
    """
    _read(files, is_told=True)


@board.command()
def add(files: Files, job: NewBoardsJob = BOARDS_JOB, store: StoreUrl = None) -> None:
    """Add boards, or change those with the same names. `weft crawl boards` crawls them.

    Nothing is added if one of the files has a mistake. A crawl that is running notices the change
    within seconds.

        weft board add news.yaml
        weft board add boards/*.yaml --store redis://crawl.example:6379/0
    """
    sources = _read(files, is_told=False)
    home = boards_home(job, store)
    told = asyncio.run(services.add_boards(home, sources))
    for source, status in zip(sources, told, strict=True):
        name = source.board.name
        say(f"{name} is unchanged." if status is PutStatus.UNCHANGED else f"{name} is {status}.")


def _read(files: Sequence[Path], *, is_told: bool) -> list[BoardSource]:
    """The boards of all files; if one has a mistake, the mistakes of all."""
    sources = []
    failed = False
    for file in check_files(files):
        for mistake in file.mistakes:
            failed = True
            warn(mistake, "red")
        if file.source is not None:
            sources.append(file.source)
            if is_told:
                found = file.source.board
                entries = (
                    "1 entry" if len(found.entries) == 1 else f"{len(found.entries):,} entries"
                )
                say(f"{file.path}: board {found.name} with {entries}, no mistakes")
    if failed:
        sys.exit(1)
    return sources


@board.command()
def schema() -> None:
    """Print the JSON Schema of boards, with which editors help to write them.

    An editor that knows it completes what you type. In VS Code with its YAML extension, the second
    of these lines begins the file of a board:

        weft board schema > board.schema.json
        # yaml-language-server: $schema=board.schema.json
    """
    print(json.dumps(board_schema(), indent=2, ensure_ascii=False))


@board.command()
def preview(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL", help="Entry pages, such as a front page.")
    ],
    name: Annotated[
        str,
        typer.Option(help="Name of the board.", show_default="that of the file, or of the site"),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the board to a new file."),
    ] = None,
) -> None:
    """Show what a board would find on entry pages, and write its file.

    The pages and a few of their articles are fetched, robots.txt is obeyed. Without -o the board
    goes to standard output, and what was found to standard error. Exits with 1 if no articles were
    found on one of the pages.

        weft board preview https://example.org/news/ -o news.yaml
    """
    if output is not None:
        _check_place(output)
        name = name or ("" if problem_of_name(output.stem) else output.stem)
    with errors.status("Fetching …"):
        found = asyncio.run(previews.preview_board(urls, name))
    for page in (*found.entries, *found.samples):
        if page.reading:
            for line in report_lines(page.source, page.reading):
                warn(line)
    for problem in found.problems:
        warn(problem, "red")
    if not found.is_empty:
        _write(found.text, output)
    if found.problems:
        sys.exit(1)


def _check_place(path: Path) -> None:
    """Before pages are fetched for nothing."""
    if not is_board_file(str(path)):
        raise ConfigError(f"{path}: name a file that ends in .yaml")
    if path.exists():
        raise ConfigError(f"{path} is there already; name another file, or remove it")
    if not path.parent.is_dir():
        raise ConfigError(f"{path} cannot be written: there is no directory {path.parent}")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror}") from error
    warn(f"Wrote {output}; crawl it with: weft crawl {shlex.quote(str(output))}")


# weft board list, show


@board.command("list")
def list_(job: BoardsJob = None, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List boards: their entries, state, pages, articles and problems.

    Works while the crawl is running.
    `weft board show NAME` tells the problems.

        weft board list
        weft board list --store redis://crawl.example:6379/0
    """
    homes = asyncio.run(services.homes_with_boards(job, store))
    rows = asyncio.run(services.list_boards(homes))
    if as_json:
        results.print_json(msgspec.json.encode(rows).decode())
    elif rows:
        _show_rows(rows)
    else:
        say(f"There are no boards in {homes[0]}; `weft board add FILE` adds one.")


def _show_rows(rows: Sequence[BoardRow]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("board", "job", "entries", "state"):
        # Where there is no room, only entries take several lines.
        table.add_column(name, no_wrap=name != "entries", overflow="fold")
    for name in ("pages", "articles", "problems"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last active", no_wrap=True)
    now_ms = SystemClock().now_ms()
    for row in rows:
        first, *others = row.entries
        entries = f"{first} and {len(others):,} more" if others else first
        numbers = (f"{number:,}" for number in (row.pages, row.articles, row.problems))
        active = (
            f"{in_words((now_ms - row.active_at_ms) / 1000)} ago" if row.active_at_ms else "never"
        )
        table.add_row(row.name, row.job, entries, row.state, *numbers, active)
    show(table)


@board.command("show")
def show_(
    name: Name, job: BoardsJob = None, store: StoreUrl = None, as_json: AsJson = False
) -> None:
    """Show a board: what it says, what became of it, and its last problems.

    What is told besides its text are comments of YAML. Passwords of sinks are not shown. Works
    while the crawl is running.

        weft board show news
    """
    shown = asyncio.run(services.show_board(_home(name, job, store), name))
    if as_json:
        results.print_json(msgspec.json.encode(shown).decode())
        return
    say(shown.text.rstrip("\n"))
    for line in _lines(shown):
        say(f"# {line}")


def _lines(shown: ShownBoard) -> Iterator[str]:
    moments = {"added": shown.added_at_ms}
    if shown.changed_at_ms != shown.added_at_ms:
        moments["changed"] = shown.changed_at_ms
    moments["last activity"] = shown.active_at_ms
    yield "; ".join((shown.state, *(f"{what}: {_at(ms)}" for what, ms in moments.items())))
    if shown.counts:
        yield ", ".join(f"{name} {number:,}" for name, number in sorted(shown.counts.items()))
    if shown.problems:
        yield f"last {count(len(shown.problems), 'problem')}:"
    for problem in shown.problems:
        page = f"{problem.url}: " if problem.url else ""
        yield f"  {_at(problem.at_ms)} {page}{' '.join(problem.what.split())}"


def _at(ms: int) -> str:
    if not ms:
        return "never"
    return datetime.fromtimestamp(ms / 1000).astimezone().isoformat(" ", "seconds")


# weft board pause, resume, remove


@board.command()
def pause(name: Name, job: BoardsJob = None, store: StoreUrl = None) -> None:
    """Pause a board: its pages wait until it is resumed.

    A crawl that is running notices it within seconds.
    `weft board resume` continues the board.

        weft board pause news
    """
    asyncio.run(services.pause_board(_home(name, job, store), name))
    say(f"{name} is paused. `weft board resume {name}` continues it.")


@board.command()
def resume(name: Name, job: BoardsJob = None, store: StoreUrl = None) -> None:
    """Continue a board that was paused.

    A crawl that is running notices it within seconds, and fetches the pages of the board again
    within a minute.

        weft board resume news
    """
    asyncio.run(services.pause_board(_home(name, job, store), name, is_paused=False))
    say(f"{name} continues.")


@board.command()
def remove(
    name: Name,
    job: BoardsJob = None,
    store: StoreUrl = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove a board and its statistics. Its articles are kept.

    A crawl that is running notices it within seconds. If the board is added again, articles that it
    has had already are not fetched once more.

        weft board remove news
    """
    home = _home(name, job, store)
    if not yes:
        # Outside of an event loop, which would take the first Ctrl-C for itself.
        typer.confirm(f"Remove the board {name} from {home}?", abort=True)
    asyncio.run(services.remove_board(home, name))
    say(f"Removed {name}.")


def _home(name: str, job: str | None, store: str | None) -> JobHome:
    return asyncio.run(services.home_of_board(name, job, store))

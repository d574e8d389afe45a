"""`weft frontier`: look into the frontier of a job."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from weft.cli.explain import tell
from weft.cli.output import results, say
from weft.cli.store import ask
from weft.clock import SystemClock
from weft.engine.jobfile import JobFile
from weft.engine.settings import DEFAULT_JOBS_DIR, store_path
from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Frontier
from weft.records import Explanation, HostState, PageKind, Stats
from weft.urls import fingerprint

frontier = typer.Typer(no_args_is_help=True, help="Look into the frontier of a job.")

Job = Annotated[
    str | None,
    typer.Option(
        "--job", help="Name of a job in .weft; not needed if there is only one.", metavar="NAME"
    ),
]
Store = Annotated[
    str | None, typer.Option("--store", help="Where the job lives: rocks:///DIR.", metavar="URL")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


class Kind(StrEnum):
    NAV = "nav"
    DATA = "data"


@frontier.command()
def stats(job: Job = None, store: Store = None, as_json: AsJson = False) -> None:
    """What is queued, claimed and done, and which hosts have most to do.

    Works while the crawl is running.
    """

    async def look(frontier: Frontier) -> tuple[Stats, list[HostState]]:
        return await frontier.stats(), await frontier.hosts(10)

    counters, hosts = ask(find_job(job, store), look)
    if as_json:
        results.print_json(
            msgspec.json.encode({"stats": _named(counters), "hosts": hosts}).decode()
        )
        return
    for name, value in _named(counters).items():
        say(f"{name:>12} {value:,}")
    if hosts:
        table = Table("host", "queued", "claimed", "delay", "bad", title="Busiest hosts")
        for host in hosts:
            delay = f"{host.delay_ms / 1000:g} s"
            bad = "yes" if host.bad_until_ms > SystemClock().now_ms() else ""
            table.add_row(host.host, f"{host.queued:,}", f"{host.claimed:,}", delay, bad)
        results.print(table)


@frontier.command()
def explain(
    url: Annotated[str, typer.Argument(help="The URL, as found on a page.")],
    job: Job = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """What became of a URL: found where, queued, held by whom, fetched when and how.

    Works while the crawl is running.
    """

    async def look(frontier: Frontier) -> Explanation:
        return (await frontier.explain([fingerprint(url)]))[0]

    told = ask(find_job(job, store), look)
    if as_json:
        results.print_json(msgspec.json.encode(told).decode())
        return
    for line in tell(url, told, now_ms=SystemClock().now_ms()):
        say(line)


@frontier.command()
def clear(
    job: Job = None,
    store: Store = None,
    kind: Annotated[
        Kind | None,
        typer.Option(help="Only pages of this kind: nav (lists) or data (articles)."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Empty the queues and forget what was seen. Items stay where they are."""
    job_dir = find_job(job, store)
    what = f"the {kind} pages of " if kind else ""
    if not yes:
        typer.confirm(f"Forget {what}{job_dir}?", abort=True)

    async def forget(frontier: Frontier) -> None:
        await frontier.clear(PageKind[kind.name] if kind else None)

    ask(job_dir, forget, is_read_only=False)
    JobFile(job_dir).begin()
    say(f"Forgot {what}{job_dir}.")


def find_job(job: str | None, store: str | None) -> Path:
    """The directory of the job that is meant."""
    if job and store:
        raise ConfigError("--job and --store are two ways to say the same; give one of them")
    if store:
        return store_path(store)
    if job:
        return DEFAULT_JOBS_DIR / job
    jobs = sorted(path.parent for path in DEFAULT_JOBS_DIR.glob("*/frontier"))
    if len(jobs) == 1:
        return jobs[0]
    if not jobs:
        raise StoreMissingError(
            f"there is no job in {DEFAULT_JOBS_DIR.absolute()}; go where you crawled, "
            "or name one with --store rocks:///DIR"
        )
    names = ", ".join(path.name for path in jobs)
    raise ConfigError(f"there are several jobs here: {names}; name one with --job")


def _named(counters: Stats) -> dict[str, int]:
    return {name: getattr(counters, name) for name in counters.__struct_fields__}

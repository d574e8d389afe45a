"""`weft frontier`: look into the frontier of a job."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from weft.cli.account import Look
from weft.cli.account import tell as tell_account
from weft.cli.explain import tell
from weft.cli.output import results, say
from weft.cli.store import FRONTIER_NAME, SERVER_NAME, ask, only_job, place_of
from weft.clock import SystemClock
from weft.config import DEFAULT_JOBS_DIR, default_job_dir
from weft.engine.settings import job_name
from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Frontier, ReportsSeen, Store, parse_store
from weft.records import Explanation, HostKey, HostState, PageKind, Stats
from weft.urls import fingerprint, host_key

frontier = typer.Typer(no_args_is_help=True, help="Look into the frontier of a job.")

JobName = Annotated[
    str | None,
    typer.Option(
        "--job",
        help="Name of a job, in .weft or in the store; not needed if there is only one.",
        metavar="NAME",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where the job lives: rocks:///DIR or redis://HOST:PORT/DB.",
        metavar="URL",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]

#: Hosts in the table of `stats`.
BUSIEST = 10


class Kind(StrEnum):
    NAV = "nav"
    DATA = "data"


@frontier.command()
def stats(job: JobName = None, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """How the crawl stands: what is left, what it waits for, what was done.

    Works while the crawl is running.
    """

    async def look(frontier: Frontier) -> Look:
        return Look(
            stats=await frontier.stats(),
            hosts=await frontier.hosts(sys.maxsize),
            is_finished=await frontier.is_finished(),
            seen=await frontier.seen_report() if isinstance(frontier, ReportsSeen) else None,
        )

    found = ask(*find_job(job, store), look)
    busiest = found.hosts[:BUSIEST]
    if as_json:
        told = {"stats": _named(found.stats), "hosts": busiest, "seen": found.seen}
        results.print_json(msgspec.json.encode(told).decode())
        return
    for line in tell_account(found, now_ms=SystemClock().now_ms()):
        say(line)
    if busiest:
        results.print(_table(busiest))


def _table(hosts: Sequence[HostState]) -> Table:
    table = Table("host", "queued", "parked", "claimed", "delay", "bad", title="Busiest hosts")
    for host in hosts:
        numbers = (f"{number:,}" for number in (host.queued, host.parked, host.claimed))
        delay = f"{host.delay_ms / 1000:g} s"
        bad = "yes" if host.bad_until_ms > SystemClock().now_ms() else ""
        table.add_row(host.host, *numbers, delay, bad)
    return table


@frontier.command()
def explain(
    url: Annotated[str, typer.Argument(help="The URL, as found on a page.")],
    job: JobName = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """What became of a URL: found where, queued, held by whom, fetched when and how.

    Works while the crawl is running.
    """

    async def look(frontier: Frontier) -> Explanation:
        # By another host key than the name of its host it may be anywhere.
        host = host_key(url) if frontier.host_key is HostKey.HOST else None
        return (await frontier.explain([fingerprint(url)], host))[0]

    told = ask(*find_job(job, store), look)
    if as_json:
        results.print_json(msgspec.json.encode(told).decode())
        return
    for line in tell(url, told, now_ms=SystemClock().now_ms()):
        say(line)


@frontier.command()
def clear(
    job: JobName = None,
    store: StoreUrl = None,
    kind: Annotated[
        Kind | None,
        typer.Option(help="Only pages of this kind: nav (lists) or data (articles)."),
    ] = None,
    is_all: Annotated[
        bool, typer.Option("--all", help="Everything that is known about the job; the default.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Empty the queues and forget what was seen. Items stay where they are."""
    if kind and is_all:
        raise ConfigError("--kind forgets some pages and --all everything; give one of them")
    place, name = find_job(job, store)
    what = f"the {kind} pages of " if kind else ""
    what += place_of(place, name)
    if not yes:
        typer.confirm(f"Forget {what}?", abort=True)

    async def forget(frontier: Frontier) -> None:
        await frontier.clear(PageKind[kind.name] if kind else None)
        if kind:  # what is left of the crawl is not finished any more
            await frontier.begin(is_fresh=False, is_rerun=False)

    ask(place, name, forget, is_read_only=False)
    say(f"Forgot {what}.")


def find_job(job: str | None, store: str | None) -> tuple[Store, str]:
    """The job that is meant, and where it lives."""
    if not store:
        return _find_embedded(job), job_name(job or "")
    place = parse_store(store)
    if place.is_shared:
        return place, job_name(job) if job else only_job(place)
    if job:
        raise ConfigError("a rocks store holds one job; leave --job out, or --store")
    return place, ""


def _find_embedded(job: str | None) -> Store:
    if job:
        return parse_store(f"rocks://{default_job_dir(job)}")
    kinds = (FRONTIER_NAME, SERVER_NAME)
    jobs = sorted({path.parent for kind in kinds for path in DEFAULT_JOBS_DIR.glob(f"*/{kind}")})
    if len(jobs) == 1:
        return parse_store(f"rocks://{jobs[0]}")
    if not jobs:
        raise StoreMissingError(
            f"there is no job in {DEFAULT_JOBS_DIR.absolute()}; go where you crawled, "
            "or name one with --store rocks:///DIR or --store redis://HOST:PORT/DB"
        )
    names = ", ".join(path.name for path in jobs)
    raise ConfigError(f"there are several jobs here: {names}; name one with --job")


def _named(counters: Stats) -> dict[str, int]:
    return {name: getattr(counters, name) for name in counters.__struct_fields__}

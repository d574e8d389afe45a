"""`weft frontier`: inspect the frontier of a job."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from weft.cli.account import tell as tell_account
from weft.cli.explain import tell
from weft.cli.importing import import_scrapy_redis
from weft.cli.options import AsJson, JobName, StoreUrl
from weft.cli.output import results, say
from weft.clock import SystemClock
from weft.errors import ConfigError
from weft.records import Explanation, HostState, PageKind, Stats
from weft.services import frontiers as services
from weft.services.frontiers import Look, choose_home, look

frontier = typer.Typer(no_args_is_help=True, help="Inspect the frontier of a job.")
frontier.command("import-scrapy-redis")(import_scrapy_redis)

#: Hosts in the table of `stats`.
BUSIEST = 10


class Kind(StrEnum):
    NAV = "nav"
    DATA = "data"


@frontier.command()
def stats(job: JobName = None, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Show the state of a crawl: what is left, what it is waiting for, what was done.

    Works while the crawl is running.
    """
    found = asyncio.run(_look(job, store))
    busiest = found.hosts[:BUSIEST]
    if as_json:
        told = {"stats": _named(found.stats), "hosts": busiest, "seen": found.seen}
        results.print_json(msgspec.json.encode(told).decode())
        return
    for line in tell_account(found, now_ms=SystemClock().now_ms()):
        say(line)
    if busiest:
        results.print(_table(busiest))


async def _look(job: str | None, store: str | None) -> Look:
    return await look(await choose_home(job, store))


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
    """Explain what happened to a URL: where it was found, who claimed it, when it was fetched.

    Works while the crawl is running.
    """
    told = asyncio.run(_explain(url, job, store))
    if as_json:
        results.print_json(msgspec.json.encode(told).decode())
        return
    for line in tell(url, told, now_ms=SystemClock().now_ms()):
        say(line)


async def _explain(url: str, job: str | None, store: str | None) -> Explanation:
    return await services.explain(await choose_home(job, store), url)


@frontier.command()
def clear(
    job: JobName = None,
    store: StoreUrl = None,
    kind: Annotated[
        Kind | None,
        typer.Option(help="Forget only pages of this kind: nav (lists) or data (articles)."),
    ] = None,
    is_all: Annotated[
        bool, typer.Option("--all", help="Forget everything about the job. This is the default.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Empty the queues and forget what was seen. Items are kept."""
    if kind and is_all:
        raise ConfigError("--kind forgets some pages and --all forgets everything; use one of them")
    home = asyncio.run(choose_home(job, store))
    what = f"the {kind} pages of {home}" if kind else str(home)
    if not yes:  # outside of an event loop, which would take the first Ctrl-C for itself
        typer.confirm(f"Forget {what}?", abort=True)
    asyncio.run(services.clear(home, PageKind[kind.name] if kind else None))
    say(f"Forgot {what}.")


def _named(counters: Stats) -> dict[str, int]:
    return {name: getattr(counters, name) for name in counters.__struct_fields__}

"""`weft master`: a process of the control plane."""

import asyncio
from typing import Annotated

import typer

from weft.cli.options import SharedStoreUrl
from weft.cli.output import say, show_logs, warn
from weft.errors import ConfigError
from weft.frontier import Store
from weft.services.stores import shared_store

DEFAULT_BIND = "127.0.0.1:8900"


def master(
    store: SharedStoreUrl,
    bind: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen.")] = DEFAULT_BIND,
) -> None:
    """Serve the API: boards, jobs and nodes of a store, over HTTP.

        weft master --store redis://crawl.example:6379/0

    Each request needs a token of `weft token create`. If there is none yet, one is made and shown,
    but only for a master that nobody else can reach: it listens on this machine alone, unless
    --bind says otherwise. There may be any number of masters; none of them keeps anything. Spiders
    are looked up in the directory where this is run. Ctrl-C or SIGTERM ends it.
    """
    place = shared_store(store)
    show_logs("WARNING")
    try:
        from weft.control.server import run_master  # here, because it needs the extra
    except ModuleNotFoundError as problem:
        raise ConfigError(
            f"weft master needs {problem.name}: pip install 'weft[control]'"
        ) from problem

    asyncio.run(run_master(place, bind, lambda url, token: _tell(place, url, token)))
    warn("The master has ended.")


def _tell(store: Store, url: str, token: str | None) -> None:
    if token is not None:
        warn("There was no token yet. This one has the scope admin, and is not shown again:")
        say(token)
    warn(f"Master of {store.place} at {url}")

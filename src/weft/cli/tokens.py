"""`weft token`: who may use the API of masters."""

import asyncio
from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.cli.options import AsJson, SharedStoreUrl
from weft.cli.output import results, say, show, warn
from weft.cluster.tokens import TokenScope
from weft.services.stores import shared_store
from weft.services.tokens import create_token, list_tokens, revoke_token

token = typer.Typer(no_args_is_help=True, help="Say who may use the API of masters.")

TokenName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")]


@token.command()
def create(
    name: TokenName,
    scope: Annotated[
        TokenScope,
        typer.Option(
            help="What it allows: read; write, which includes starting jobs; or admin, which "
            "includes all.",
            show_default=False,
        ),
    ],
    store: SharedStoreUrl,
) -> None:
    """Create a token, and show it this once. All masters of the store know it at once.

    weft token create dashboard --scope read --store redis://crawl.example:6379/0
    """
    text = asyncio.run(create_token(shared_store(store), name, scope))
    warn(f"The token {name} has the scope {scope}. It is not shown again:")
    say(text)


@token.command("list")
def list_(store: SharedStoreUrl, as_json: AsJson = False) -> None:
    """List the tokens: names, scopes, and when they were created."""
    rows = asyncio.run(list_tokens(shared_store(store)))
    if as_json:
        results.print_json(msgspec.json.encode(rows).decode())
    elif rows:
        table = Table("token", "scope", "created", box=SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            created = datetime.fromtimestamp(row.created_at_ms / 1000).astimezone()
            table.add_row(row.name, row.scope, created.isoformat(" ", "seconds"))
        show(table)
    else:
        say("There is no token; `weft token create NAME --scope admin` creates one.")


@token.command()
def revoke(name: TokenName, store: SharedStoreUrl) -> None:
    """Revoke a token. All masters refuse it within a second."""
    asyncio.run(revoke_token(shared_store(store), name))
    say(f"{name} is revoked.")

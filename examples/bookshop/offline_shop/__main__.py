"""`python -m offline_shop`: the shop alone, until Ctrl-C, for spiders that are started by hand."""

import argparse
import asyncio
from contextlib import suppress

from offline_shop.server import serve_shop


async def serve(books: int, port: int) -> None:
    async with serve_shop(books, port) as url:
        print(f"The shop is open at {url}; Ctrl-C closes it.", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m offline_shop", description=__doc__)
    parser.add_argument("--books", type=int, default=18_000)
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(options.books, options.port))


main()

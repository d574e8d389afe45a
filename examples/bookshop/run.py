"""The paper's crawl of a book shop, all of it on this machine.

Starts a shop, a store, a database and workers, shows the table of books as it grows, and ends all
that it has started.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from offline_shop.server import serve_shop
from tables import Table, open_table

from weft.cluster.workers import Worker, Workers
from weft.errors import WeftError
from weft.frontier.redis import RedisFrontier
from weft.redis.client import Client
from weft.redis.server import PrivateServer, bound_to_us, log_end

HERE = Path(__file__).parent
#: The name of the spider, and of its job.
SPIDER = "books"
#: What the paper tells of its crawl with one master and two workers.
PAPER = "The paper's crawl over the internet, with one master and two workers: 18,000 in 1 hour."
#: Requests to the shop that each worker may have under way.
CONCURRENCY = 8
#: Known URLs are kept in a Bloom filter, as the paper does. It is made for a million of them, so
#: that none of these is taken for known by mistake.
SEEN = ("-s", "WEFT_SEEN=bloom")
LOOK_S = 1.0


class Options(NamedTuple):
    books: int
    workers: int
    keep: bool


async def run(options: Options) -> int:
    """The exit code: 0 if every book is in the table. All files are in one directory, and are gone
    in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="weft-bookshop-", ignore_cleanup_errors=True) as made,
        PrivateServer(Path(made, "store")) as store,
        open_table(Path(made), say) as table,
    ):
        async with serve_shop(options.books) as shop:
            say(f"A shop with {options.books:,} books is open at {shop}")
            command = crawl_command(shop, store.url, table.sink, options.workers, Path(made, "job"))
            rows = await crawl(command, store.url, table, Path(made, "crawl.log"))
            if options.keep:
                say(f"Everything stays up until Ctrl-C. Look at the table:\n{table.how_to_look}")
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
    return 0 if rows == options.books else 1


async def crawl(command: Sequence[str], store_url: str, table: Table, log: Path) -> int:
    """How many rows the table has then."""
    started_at_s = time.monotonic()
    async with started(command, log) as process:
        await show_growth(table, store_url, process, started_at_s)
    took_s = time.monotonic() - started_at_s
    if process.returncode:
        raise WeftError(f"the crawl did not go well:\n{log_end(log)}")
    rows = await asyncio.to_thread(table.count_rows)
    say(f"{rows:,} books are in the table after {took_s:.0f} s, {rows / took_s:,.0f} a second.")
    await tell_filter(store_url)
    say(PAPER)
    return rows


def crawl_command(shop: str, store_url: str, sink: str, workers: int, job_dir: Path) -> list[str]:
    """What one would type; the shop is ours, so it need not be spared."""
    where = ["--store", store_url, "--job", SPIDER, "-o", sink, "-s", f"JOBDIR={job_dir}"]
    pace = ["--delay", "0", "--concurrency", str(CONCURRENCY * workers)]
    crew = ["--workers", str(workers), "--workers-per-host", str(workers)]
    command = [sys.executable, "-m", "weft", "crawl", SPIDER, "-a", f"shop={shop}"]
    return [*command, *where, *pace, *crew, *SEEN]


@asynccontextmanager
async def started(command: Sequence[str], log: Path) -> AsyncIterator[Process]:
    """A process of this project, which is asked to stop if it has not ended by itself."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            # It dies with us, however we do; and Ctrl-C is for us alone to handle.
            *bound_to_us(command, signal.SIGTERM),
            cwd=HERE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def show_growth(table: Table, store_url: str, process: Process, started_at_s: float) -> None:
    """A line a second, until the crawl has ended."""
    async with Client(store_url) as client:
        crew = Workers(client)
        while not await has_ended(process, LOOK_S):
            rows = await asyncio.to_thread(table.count_rows)
            workers = (await crew.of([SPIDER]))[SPIDER]
            took_s = time.monotonic() - started_at_s
            say(" · ".join([f"{took_s:4.0f} s", f"{rows:6,} rows", *map(describe, workers)]))


async def tell_filter(store_url: str) -> None:
    async with RedisFrontier(store_url, SPIDER, is_read_only=True) as frontier:
        seen = await frontier.seen_report()
    say(f"The Bloom filter knows {seen.urls:,} URLs, in {seen.size_bytes:,} bytes.")


def describe(worker: Worker) -> str:
    return f"worker {worker.status.pid}: {worker.status.pages_per_s:3.0f} pages/s"


async def has_ended(process: Process, within_s: float) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), within_s)
    return process.returncode is not None


def say(text: str) -> None:
    print(text, flush=True)


def read_options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=positive, default=18_000, help="books in the shop")
    parser.add_argument("--workers", type=positive, default=2, help="processes that crawl")
    parser.add_argument("--keep", action="store_true", help="leave all up until Ctrl-C")
    return Options(**vars(parser.parse_args()))


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


async def run_until_told(options: Options) -> int:
    """Ctrl-C and `kill` end it in good order."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await run(options)


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(run_until_told(read_options())))
    except WeftError as error:
        sys.exit(f"run.py: {error}")
    except asyncio.CancelledError:
        sys.exit(130)

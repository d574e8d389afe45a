"""`weft crawl --workers N`: a supervisor in this process, controlled by signals.

Ctrl-C and Ctrl-Z on the terminal reach only the supervisor. The first Ctrl-C lets all workers
finish what is under way; the second kills them. Ctrl-Z suspends them until `fg`.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.cli.output import warn
from weft.garbage import not_collected
from weft.node.spares import Spares, can_fork
from weft.node.supervisor import Crew, Supervisor, freeze
from weft.reports import Progress, Report


@contextmanager
def spare_workers(number: int) -> Iterator[Spares | None]:
    """Call this before anything else: see `Spares`. A single worker is this process itself."""
    if number == 1 or not can_fork():
        yield None
        return
    with not_collected():
        from weft.cli.worker import main, prepare

        prepare()
    with Spares(number, main) as spares:
        yield spares


def run_workers(
    crew: Crew, watch: Callable[[Progress], None], spares: Spares | None = None
) -> Report | None:
    """Crawl until done. Ctrl-C stops cleanly; a second one kills, and then there is no report."""
    return asyncio.run(_run(crew, watch, spares))


async def _run(
    crew: Crew, watch: Callable[[Progress], None], spares: Spares | None
) -> Report | None:
    supervisor = Supervisor(crew, watch=watch, warn=warn, spares=spares)
    with _steering(supervisor):
        return await supervisor.run()


@contextmanager
def _steering(supervisor: Supervisor) -> Iterator[None]:
    def interrupt() -> None:
        if supervisor.is_stopping:
            supervisor.kill()
        else:
            supervisor.stop()

    handlers = {
        signal.SIGINT: interrupt,
        signal.SIGTERM: interrupt,
        signal.SIGTSTP: lambda: freeze([supervisor]),
    }
    loop = asyncio.get_running_loop()
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)

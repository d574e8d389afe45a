"""`weft crawl --workers N`: a supervisor in this process, which signals steer.

Ctrl-C on the terminal reaches the supervisor alone. The first asks all workers to stop, which
finish what is under way; the second kills them. So does Ctrl-Z, which stops them until `fg`.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.cli.output import warn
from weft.node.supervisor import Crew, Supervisor, freeze
from weft.reports import Progress, Report


def run_workers(crew: Crew, watch: Callable[[Progress], None]) -> Report | None:
    """Crawl until done. Ctrl-C stops cleanly, a second one at once: there is no report then."""
    return asyncio.run(_run(crew, watch))


async def _run(crew: Crew, watch: Callable[[Progress], None]) -> Report | None:
    supervisor = Supervisor(crew, watch=watch, warn=warn)
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

"""One worker process of `weft crawl --workers N` or of a node: `python -m weft.cli.worker`.

It reads its work from standard input, and reports its progress to its supervisor on standard
output: a `Word` in a line of JSON, several times a second, and a last one with its report.
Everything else goes to standard error, including what a spider prints.
"""

import os
import sys
import traceback
from importlib import import_module

import msgspec

from weft.cli import INTERRUPTED
from weft.cli.logs import add_log_handler
from weft.cluster.status import Work
from weft.errors import WeftError
from weft.garbage import not_collected
from weft.reports import Word, encode_word

_MODULES = (
    "weft.cluster.media",
    "weft.cluster.membership",
    "weft.engine.http.handler",
    "weft.engine.run",
    "weft.engine.target",
    "weft.frontier.redis",
)


class Channel:
    """The channel to the supervisor: our standard output, closed to everything else."""

    def __init__(self) -> None:
        self._place = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        sys.stdout = sys.stderr  # line buffered

    def tell(self, word: Word) -> None:
        left = memoryview(encode_word(word))
        try:
            while left:
                left = left[os.write(self._place, left) :]
        except BrokenPipeError:
            # The supervisor is dead, on a system that does not kill us with it. Our claims come
            # back when they are overdue.
            os._exit(INTERRUPTED)


def prepare() -> None:
    """Import what each worker imports, in a process that forks them."""
    for name in _MODULES:
        import_module(name)


def main() -> None:
    channel = Channel()
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    add_log_handler(work.log_level)
    try:
        with not_collected():
            # Imported here because they load Scrapy, and errors in that are reported too.
            from weft.engine.run import run_crawl
            from weft.engine.target import find_target

            target = find_target(work.targets, work.arguments)
        report = run_crawl(
            target, work.overrides, lambda progress: channel.tell(Word(progress=progress))
        )
    except WeftError as error:
        channel.tell(Word(failure=str(error)))
    except Exception as problem:
        traceback.print_exc()
        channel.tell(Word(failure=f"a worker failed: {type(problem).__name__}: {problem}"))
    else:
        if report is None:
            os._exit(INTERRUPTED)
        channel.tell(Word(report=report))


if __name__ == "__main__":
    main()

"""One worker process of `weft crawl --workers N` or of a node: `python -m weft.cli.worker`.

It reads its work from standard input, and tells its supervisor on standard output how it gets on: a
`Word` in a line of JSON, several times a second, and a last one with its report. Everything else
goes to standard error, also what a spider prints.
"""

import os
import sys
import traceback

import msgspec

from weft.cli import INTERRUPTED
from weft.cli.output import show_logs
from weft.cluster.status import Work
from weft.engine.run import run_crawl
from weft.engine.target import find_target
from weft.errors import WeftError
from weft.reports import Word, encode_word


class Channel:
    """The way to the supervisor: our standard output, which nobody else can write to any more."""

    def __init__(self) -> None:
        self._place = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        sys.stdout = sys.stderr  # line by line

    def tell(self, word: Word) -> None:
        left = memoryview(encode_word(word))
        try:
            while left:
                left = left[os.write(self._place, left) :]
        except BrokenPipeError:
            # The supervisor is dead, on a system that does not end us with it. What we had in our
            # hands comes back when it is overdue.
            os._exit(INTERRUPTED)


def main() -> None:
    channel = Channel()
    work = msgspec.json.decode(sys.stdin.buffer.read(), type=Work)
    show_logs(work.log_level)
    try:
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

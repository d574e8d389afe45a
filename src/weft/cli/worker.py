"""One worker process of `weft crawl --workers N`: `python -m weft.cli.worker`.

It reads its assignment from standard input, and tells its supervisor on standard output how it gets
on: a `Word` in a line of JSON, several times a second, and a last one with its report. Everything
else goes to standard error, also what a spider prints.
"""

import os
import sys
import traceback
from typing import Any

import msgspec

from weft.cli import INTERRUPTED
from weft.cli.output import show_logs
from weft.engine.run import Progress, Report, run_crawl
from weft.engine.target import find_target
from weft.errors import WeftError


class Assignment(msgspec.Struct, frozen=True):
    """What a worker is to do."""

    targets: tuple[str, ...]
    arguments: dict[str, str]
    overrides: dict[str, Any]
    log_level: str


class Word(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker tells; one of these."""

    progress: Progress | None = None
    report: Report | None = None
    #: It could not crawl, and another would not be able to either.
    failure: str = ""


def encode_word(word: Word) -> bytes:
    return msgspec.json.encode(word, enc_hook=str) + b"\n"


def decode_word(line: bytes) -> Word:
    return msgspec.json.decode(line, type=Word, dec_hook=lambda _, text: WeftError(text))


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
    assignment = msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)
    show_logs(assignment.log_level)
    try:
        target = find_target(assignment.targets, assignment.arguments)
        report = run_crawl(
            target, assignment.overrides, lambda progress: channel.tell(Word(progress=progress))
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

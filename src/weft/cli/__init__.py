"""The command `weft`, one file per noun."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from weft.errors import WeftError
from weft.garbage import not_collected

#: Exit code of a command that was ended by Ctrl-C.
INTERRUPTED = 130


def main() -> None:
    with ending_in_a_line():
        with not_collected():
            from weft.cli.app import make_app  # here, because Ctrl-C may come during the import

            app = make_app(sys.argv[1:])
        app()


@contextmanager
def ending_in_a_line() -> Iterator[None]:
    """Report errors of the user or the machine in one line, without a traceback."""
    try:
        yield
    except WeftError as error:
        from weft.cli.output import warn

        warn(f"weft: {error}", "red")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

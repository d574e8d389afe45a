"""The command `weft`, one file per noun."""

import sys

from weft.errors import WeftError

#: Exit code of a command that Ctrl-C has ended.
INTERRUPTED = 130


def main() -> None:
    """What a user did wrong, or what the machine lacks, is told in a line, not in a traceback."""
    try:
        from weft.cli.app import app  # here, for Ctrl-C may come while it is being imported

        app()
    except WeftError as error:
        from weft.cli.output import warn

        warn(f"weft: {error}", "red")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

"""Where the commands write: results to standard output, everything else to standard error."""

import re
from typing import Any

from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table

from weft.cli.logs import add_log_handler

#: Characters per line in a file or a pipe.
WIDE = 200


def _console(**where: Any) -> Console:
    """Texts are shown as they are: [ ] and :smile: mean nothing."""
    return Console(highlight=False, emoji=False, markup=False, **where)


#: Results.
results = _console()
#: Progress, logs and errors.
errors = _console(stderr=True)

#: What would steer the terminal; pages and files of others must not.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_logs(level: str) -> None:
    """Log to standard error: with colours above a progress line, or as plain lines in a file."""
    handler = RichHandler(console=errors, show_path=False) if errors.is_terminal else None
    add_log_handler(level, handler)


def say(text: str) -> None:
    """Print a line of the result, as it is but for control characters."""
    results.print(_CONTROL.sub(" ", text), soft_wrap=True)


def warn(text: str, style: str = "") -> None:
    """Print a line to standard error, as it is but for control characters."""
    errors.print(_CONTROL.sub(" ", text), style=style, soft_wrap=True)


def count(number: int, noun: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def show(table: Table) -> None:
    """Print a table; without a terminal, in lines as long as needed."""
    console = results if results.is_terminal else _console(width=WIDE)
    console.print(table)

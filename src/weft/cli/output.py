"""Where the commands write: results to standard output, everything else to standard error."""

from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table

from weft.cli.logs import add_log_handler

#: Characters per line in a file or a pipe.
WIDE = 200

#: Results.
results = Console(highlight=False, emoji=False)
#: Progress, logs and errors.
errors = Console(stderr=True, highlight=False, emoji=False)


def show_logs(level: str) -> None:
    """Log to standard error: with colours above a progress line, or as plain lines in a file."""
    handler = RichHandler(console=errors, show_path=False) if errors.is_terminal else None
    add_log_handler(level, handler)


def say(text: str) -> None:
    """Print a line of the result, as it is."""
    results.print(text, soft_wrap=True, markup=False)


def warn(text: str, style: str = "") -> None:
    """Print a line to standard error, as it is."""
    errors.print(text, style=style, soft_wrap=True, markup=False)


def count(number: int, noun: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def show(table: Table) -> None:
    """Print a table; without a terminal, in lines as long as needed."""
    console = results if results.is_terminal else Console(highlight=False, width=WIDE)
    console.print(table)

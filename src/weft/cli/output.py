"""Where the commands write: results to standard output, everything else to standard error."""

import logging

from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table

from weft.errors import ConfigError, StoreError

_TOLD_AT_END = (ConfigError, StoreError)
_DOWNLOAD_LOGGERS = {"scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt"}

#: Characters of a line in a file or a pipe.
WIDE = 200

#: Results.
results = Console(highlight=False)
#: Progress, logs and errors.
errors = Console(stderr=True, highlight=False)


def show_logs(level: str) -> None:
    """Log to standard error: with colours above a progress line, or plain lines in a file."""
    handler: logging.Handler
    if errors.is_terminal:
        handler = RichHandler(console=errors, show_path=False)
    else:
        handler = logging.StreamHandler(errors.file)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(level)
    if handler.level > logging.DEBUG:
        handler.addFilter(_shorten)
    logging.getLogger().addHandler(handler)


def _shorten(record: logging.LogRecord) -> bool:
    """A page that cannot be fetched is worth a line, not a traceback through the downloader."""
    is_last = record.levelno >= logging.ERROR and isinstance(record.args, tuple)
    if is_last and isinstance(next(iter(record.args or ()), None), _TOLD_AT_END):
        return False
    if record.name in _DOWNLOAD_LOGGERS and record.exc_info and record.exc_info[1]:
        message = record.getMessage()
        reason = str(record.exc_info[1])
        record.msg = message if reason in message else f"{message}: {reason}"
        record.args = None
        record.exc_info = None
        record.exc_text = None
    return True


def say(text: str) -> None:
    """A line of the result, as it is."""
    results.print(text, soft_wrap=True, markup=False)


def warn(text: str, style: str = "") -> None:
    """A line beside the result, as it is."""
    errors.print(text, style=style, soft_wrap=True, markup=False)


def count(number: int, noun: str) -> str:
    """`1 page`, `2,000 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def show(table: Table) -> None:
    """A table, in lines that are as long as it takes where there is no terminal."""
    console = results if results.is_terminal else Console(highlight=False, width=WIDE)
    console.print(table)

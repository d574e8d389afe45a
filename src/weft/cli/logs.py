"""What the commands log, and how. Without Rich, which would make workers start a tenth slower."""

import logging

from weft.errors import ConfigError, StoreError

_TOLD_AT_END = (ConfigError, StoreError)
_DOWNLOAD_LOGGERS = {"scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt"}


def add_log_handler(level: str, handler: logging.Handler | None = None) -> None:
    """`handler`: None for plain lines to standard error."""
    if handler is None:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(level)
    if handler.level > logging.DEBUG:
        handler.addFilter(_shorten)
    logging.getLogger().addHandler(handler)


def _shorten(record: logging.LogRecord) -> bool:
    """Log a page that cannot be fetched in one line, without a traceback of the downloader."""
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

"""What goes wrong in a browser, as the errors that Scrapy and the frontier know."""

import re

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

from weft.errors import ConfigError

#: Characters of a message that are shown.
SHOWN = 300

_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_NO_SANDBOX = re.compile(r"sandboxing failed|no usable sandbox", re.IGNORECASE)
# What the browser itself has said.
_SAID = re.compile(r"\[err\] (.+)")
_KNOWN: dict[str, type[Exception]] = {
    "ERR_NAME_NOT_RESOLVED": CannotResolveHostError,
    "ERR_CONNECTION_REFUSED": DownloadConnectionRefusedError,
    "ERR_CONNECTION_TIMED_OUT": DownloadTimeoutError,
    "ERR_TIMED_OUT": DownloadTimeoutError,
}


class BrowserCrashError(DownloadFailedError):
    """The browser ended while it had the page open. The page is retried as after any lost
    connection."""


def page_problem(url: str, message: str) -> Exception:
    """Why a page could not be opened. `message`: Playwright's."""
    net = _NET_ERROR.search(message)
    if net is None:
        return DownloadFailedError(f"the browser cannot open {url}: {_first_line(message)}")
    return _KNOWN.get(net[1], DownloadFailedError)(f"the browser cannot open {url}: {net[1]}")


def start_problem(message: str) -> Exception:
    """Why the browser did not start."""
    if _NO_SANDBOX.search(message):
        return ConfigError(
            "the browser cannot make its sandbox here, as in many containers; let it, or set "
            "WEFT_BROWSER_SANDBOX to False: then only the container protects you from the pages"
        )
    if "playwright install" in message:
        return ConfigError(
            "Playwright's own browser is not of its version; run: playwright install chromium"
        )
    said = _SAID.search(message)
    why = said[1][:SHOWN] if said else _first_line(message)
    return BrowserCrashError(f"the browser does not start: {why}")


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0][:SHOWN]

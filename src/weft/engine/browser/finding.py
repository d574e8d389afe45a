"""Finds the browser, and says what to do if there is none."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from weft.engine.browser.config import BrowserConfig
from weft.errors import ConfigError

#: Programs that will do, the first the best.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

_CACHES = {"darwin": "Library/Caches", "win32": "AppData/Local"}


def check_browser(config: BrowserConfig) -> None:
    """Raises ConfigError if pages cannot be fetched by a browser here; starts nothing."""
    if find_spec("playwright") is None:
        raise ConfigError(
            "pages that need a browser need Playwright, which is not installed: "
            "pip install 'weft[browser]'"
        )
    find_program(config)


def find_program(config: BrowserConfig) -> str | None:
    """The path of the browser; None: Playwright has one of its own. Raises ConfigError."""
    if config.path:
        if found := shutil.which(config.path):
            return found
        raise ConfigError(
            f"WEFT_BROWSER_PATH is {config.path!r}, which is no program; name a Chromium or a "
            "Chrome, or remove the setting and one is looked for"
        )
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None and not _has_own():
        raise ConfigError(
            "pages that need a browser need Chromium or Chrome, and there is none on PATH; install "
            "one (playwright install chromium, or on Debian: apt-get install chromium), or name it "
            "with WEFT_BROWSER_PATH"
        )
    return found


def _has_own() -> bool:
    """Whether `playwright install` has been here."""
    told = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    usual = Path.home() / _CACHES.get(sys.platform, ".cache") / "ms-playwright"
    return any((Path(told) if told else usual).glob("chromium*-*"))

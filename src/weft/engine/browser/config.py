"""The settings of the browser."""

import msgspec

from weft.engine.settingsreader import SettingsReader

#: Pages that are open at a time.
DEFAULT_PAGES = 4
#: How long a page may go on working after it has been loaded.
DEFAULT_SETTLE_S = 3
#: A browser that has opened so many pages is replaced: it has grown by then.
PAGES_PER_BROWSER = 500


class BrowserConfig(msgspec.Struct, frozen=True):
    #: Its program; empty: whatever there is.
    path: str = ""
    pages: int = DEFAULT_PAGES
    settle_s: float = DEFAULT_SETTLE_S
    #: Keep pages in a sandbox. Root cannot have one.
    has_sandbox: bool = True
    pages_per_browser: int = PAGES_PER_BROWSER


def read_browser_settings(read: SettingsReader) -> BrowserConfig:
    return BrowserConfig(
        path=read.text("WEFT_BROWSER_PATH"),
        pages=read.whole("WEFT_BROWSER_PAGES"),
        settle_s=read.number("WEFT_BROWSER_SETTLE"),
        has_sandbox=read.flag("WEFT_BROWSER_SANDBOX"),
    )

"""Weft works on asyncio: on its Twisted reactor, which is the default of Scrapy, or without any."""

from scrapy.settings import BaseSettings
from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed

from weft.errors import ConfigError

ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def check_reactor() -> None:
    """Raises ConfigError if this process runs on a reactor that is not asyncio's."""
    if is_reactor_installed() and not is_asyncio_reactor_installed():
        from twisted.internet import reactor

        raise _unfit(type(reactor).__name__)


def check_reactor_setting(settings: BaseSettings) -> None:
    """The same, before a reactor is installed."""
    name = settings.get("TWISTED_REACTOR")
    if settings.getbool("TWISTED_REACTOR_ENABLED") and name and name != ASYNCIO:
        raise _unfit(str(name))


def _unfit(name: str) -> ConfigError:
    return ConfigError(
        f"Weft needs the asyncio reactor and cannot run on {name}; set TWISTED_REACTOR to "
        f"{ASYNCIO!r}, which is Scrapy's default, or remove TWISTED_REACTOR from the settings"
    )

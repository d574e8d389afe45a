"""Retries failed tunnels through proxies, without loading what makes tunnels.

Scrapy's RETRY_EXCEPTIONS names an error of its own HTTP handler, and so loads that handler. That
takes a sixth of the start of a crawl, and few crawls need it: see `HttpHandler`.
"""

import sys

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

_MODULE = "scrapy.core.downloader.handlers.http11"
_NAME = "TunnelError"


class _TunnelErrorCheck(type):
    def __instancecheck__(cls, error: object) -> bool:
        # Before its module is loaded, there is no such error.
        wanted = getattr(sys.modules.get(_MODULE), _NAME, None)
        return wanted is not None and isinstance(error, wanted)


class AnyTunnelError(Exception, metaclass=_TunnelErrorCheck):
    """Stands for Scrapy's TunnelError in `isinstance`, as the retry middleware uses it."""


def stand_in_for_tunnel_error(settings: BaseSettings) -> None:
    name, path = "RETRY_EXCEPTIONS", f"{_MODULE}.{_NAME}"
    errors = settings.getlist(name)
    if path in errors and settings.getbool("RETRY_ENABLED"):
        priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"])
        settings.set(name, [AnyTunnelError if e == path else e for e in errors], priority)

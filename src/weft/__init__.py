"""Weft, a distributed web crawler built on Scrapy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weft._version import __version__

if TYPE_CHECKING:
    from weft.engine.addon import Addon
    from weft.engine.follow import FollowAll
    from weft.engine.linkextractor import LinkExtractor

__all__ = ["Addon", "FollowAll", "LinkExtractor", "__version__"]

# What a Scrapy project uses. Scrapy is imported only when one of them is asked for, so that the
# rest of Weft starts fast.
_PLACES = {
    "Addon": "weft.engine.addon",
    "FollowAll": "weft.engine.follow",
    "LinkExtractor": "weft.engine.linkextractor",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)

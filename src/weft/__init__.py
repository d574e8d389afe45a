"""Weft, a distributed web crawler built on Scrapy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weft._version import __version__

if TYPE_CHECKING:
    from weft.boards.reading.reading import Reading, ReadOptions
    from weft.engine.links.extractor import LinkExtractor
    from weft.engine.pages import ArticleItem, read_page
    from weft.engine.requests.follow import FollowAll
    from weft.engine.scrapy.addon import Addon

__all__ = [
    "Addon",
    "ArticleItem",
    "FollowAll",
    "LinkExtractor",
    "ReadOptions",
    "Reading",
    "__version__",
    "read_page",
]

# The names that a Scrapy project uses. Scrapy is imported only when one of them is accessed, so
# that the rest of Weft starts fast.
_PLACES = {
    "Addon": "weft.engine.scrapy.addon",
    "ArticleItem": "weft.engine.pages",
    "FollowAll": "weft.engine.requests.follow",
    "LinkExtractor": "weft.engine.links.extractor",
    "ReadOptions": "weft.boards.reading.reading",
    "Reading": "weft.boards.reading.reading",
    "read_page": "weft.engine.pages",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)

"""Weft, a distributed web crawler built on Scrapy."""

from typing import TYPE_CHECKING, Any

from weft._version import __version__

if TYPE_CHECKING:
    from weft.engine.addon import Addon

__all__ = ["Addon", "__version__"]


def __getattr__(name: str) -> Any:
    # `weft.Addon` is what a project writes into ADDONS; Scrapy is imported only when it is asked
    # for, so that the rest of Weft starts fast.
    if name == "Addon":
        from weft.engine.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

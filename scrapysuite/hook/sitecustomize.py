"""Gives Weft's add-on to every crawler of this process.

Python imports it at start from PYTHONPATH, in the process of the tests and in those that they
start. It waits until Scrapy's add-on manager is imported, because some tests look at what is.

The add-on is applied after those of the test, and is not in ADDONS: what a test sets there, and
what it reads from there, is its own.
"""

import hashlib
import importlib.util
import os
import sys
import uuid
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.addons import AddonManager
    from scrapy.settings import BaseSettings, Settings

#: A directory in which each crawler has a store of its own, or the address of a Redis.
STORE = "WEFT_SUITE_STORE"

_ADDONS = "scrapy.addons"


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ADDONS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec and spec.loader:
            spec.loader = _Forcing(spec.loader)
        return spec


class _Forcing(Loader):
    """Loads the module as ever, then changes what loads the add-ons of a crawler."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _force(module.AddonManager)


def _force(manager: "type[AddonManager]") -> None:
    load, load_early = manager.load_settings, manager.load_pre_crawler_settings

    def load_settings(self: "AddonManager", settings: "Settings") -> None:
        load(self, settings)
        _load_weft(self, settings)

    def load_pre_crawler_settings(settings: "BaseSettings") -> None:
        from weft import Addon

        load_early(settings)
        update = getattr(Addon, "update_pre_crawler_settings", None)
        if update is not None:
            update(settings)

    methods = {
        "load_settings": load_settings,
        "load_pre_crawler_settings": staticmethod(load_pre_crawler_settings),
    }
    for name, method in methods.items():
        setattr(manager, name, method)


def _load_weft(manager: "AddonManager", settings: "Settings") -> None:
    from scrapy.exceptions import NotConfigured

    from weft import Addon

    _give_store(settings)
    try:
        Addon.from_crawler(manager.crawler).update_settings(settings)
    except NotConfigured:  # as a test wants it
        return


def _give_store(settings: "Settings") -> None:
    """A store that no other crawler has; with JOBDIR, one that crawlers with the same have."""
    store, directory = os.environ[STORE], settings.get("JOBDIR")
    if "://" in store:
        name = _name_of(directory) if directory else uuid.uuid4().hex
        settings.set("WEFT_JOB", name, "addon")
        settings.set("WEFT_STORE", store, "addon")
    elif not directory:
        settings.set("WEFT_STORE", f"rocks://{store}/{uuid.uuid4().hex}", "addon")


def _name_of(directory: str) -> str:
    return hashlib.sha256(str(Path(directory).absolute()).encode()).hexdigest()[:32]


if STORE in os.environ:
    sys.meta_path.insert(0, _Finder())

"""`ADDONS = {"weft.Addon": 500}`: one line, and a Scrapy project runs on Weft."""

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object

from weft.engine.settings import DEFAULT_CONCURRENT_REQUESTS, SETTINGS, read_settings
from weft.errors import ConfigError

_PARTS = {
    "SCHEDULER": "weft.engine.scheduler.Scheduler",
    "DOWNLOADER": "weft.engine.downloader.Downloader",
    "ITEM_PROCESSOR": "weft.engine.items.ItemProcessor",
}

_MIDDLEWARES = {
    "DOWNLOADER_MIDDLEWARES": {
        "weft.engine.middlewares.fetch.FetchMiddleware": 10_000,  # next to the network
    },
    "SPIDER_MIDDLEWARES": {
        "weft.engine.middlewares.place.PlaceMiddleware": 0,  # next to the engine
        "weft.engine.middlewares.callback.CallbackMiddleware": 10_000,  # next to the spider
    },
}


class Addon:
    def update_settings(self, settings: BaseSettings) -> None:
        for name, default in SETTINGS.items():
            settings.set(name, default, "default")
        if not settings.getbool("WEFT_ENABLED"):
            raise NotConfigured("WEFT_ENABLED is False")
        for name, path in _PARTS.items():
            _refuse_other(settings, name)
            settings.set(name, path, "addon")
        for setting, places in _MIDDLEWARES.items():
            for path, place in places.items():
                settings.set_in_component_priority_dict(setting, load_object(path), place)
        settings.set("CONCURRENT_REQUESTS", DEFAULT_CONCURRENT_REQUESTS, "addon")
        # Runs whatever Python is posted to it.
        settings.set("REMOTE_CONTROL_ENABLED", False, "addon")
        read_settings(settings, spider_name="")  # what is wrong is told before anything starts


def _refuse_other(settings: BaseSettings, name: str) -> None:
    if (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["addon"]:
        raise ConfigError(
            f"the project sets {name} to {settings[name]!r}, which Weft replaces; "
            f"remove {name} from its settings, or remove weft.Addon from ADDONS"
        )

"""The target of `weft crawl TARGET…`: URLs, a spider file, or a spider of a project."""

import logging
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from scrapy import Spider
from scrapy.downloadermiddlewares import redirect
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import init_env
from scrapy.utils.project import get_project_settings, inside_project
from scrapy.utils.spider import iter_spider_classes

from weft._version import __version__
from weft.engine.naming import digest, name_job
from weft.engine.spiders.site import SiteSpider
from weft.errors import ConfigError, TargetError
from weft.markup import DEFAULT_LIMITS
from weft.urls import browser_url, canonical_url, host_key

ADDON = "weft.Addon"
#: Differences from Scrapy's own commands; the project and the user can override them.
DEFAULTS = {
    "LOG_INSTALL_ROOT_HANDLER": False,
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
}
REFERER = "scrapy.spidermiddlewares.referer.RefererMiddleware"
#: Settings of `weft crawl URL`; the user's settings take precedence.
SITE_SETTINGS: Mapping[str, Any] = {
    "USER_AGENT": f"Weft/{__version__}",
    "ROBOTSTXT_OBEY": True,
    "WEFT_ORDER": "bfs",
    "CONCURRENT_ITEMS": 1,  # Scrapy starts this many tasks per response
    "COOKIES_ENABLED": False,
    "DOWNLOAD_MAXSIZE": DEFAULT_LIMITS.max_bytes,  # larger pages are not parsed, packed or unpacked
    "RETRY_TIMES": 1,  # a URL that failed twice is remembered and retried another day
    "RETRY_GIVE_UP_LOG_LEVEL": "INFO",  # the failure is logged anyway
    # Not needed: our spider yields no requests, and we count pages ourselves.
    "DOWNLOADER_STATS": False,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    },
    "SPIDER_MIDDLEWARES": {
        REFERER: None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    },
    "EXTENSIONS": {
        "scrapy.extensions.corestats.CoreStats": None,
        "scrapy.extensions.logstats.LogStats": None,
    },
}


#: Settings of the crawl of boards. Redirects and failures are the spider's own affair.
BOARD_SETTINGS: Mapping[str, Any] = {
    **{name: value for name, value in SITE_SETTINGS.items() if not name.startswith("RETRY")},
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
    "WEFT_ITEM_KEY": ["board", "url"],
    "WEFT_RERUN": False,
    "DOWNLOADER_MIDDLEWARES": {
        **SITE_SETTINGS["DOWNLOADER_MIDDLEWARES"],
        "weft.engine.boards.middleware.BoardMiddleware": 10,  # before robots.txt
    },
}
#: The target that stands for the boards in the store of a job. No spider can have this name …
BOARDS = "weft:boards"
#: … but users write it like this.
BOARDS_WORD = "boards"


class Target(msgspec.Struct, frozen=True):
    """A spider, its arguments, and the settings that it starts from."""

    spider: type[Spider]
    arguments: dict[str, Any]
    settings: Settings
    #: The name of its job, if the user gives none.
    job: str
    #: The words and arguments it was found with; another process finds it with the same.
    words: tuple[str, ...] = ()
    given: Mapping[str, str] = {}

    def settings_with(self, overrides: Mapping[str, Any]) -> Settings:
        """The settings of a crawl. What takes precedence over what is decided here, and only here:
        the user's options, the spider's own settings, the project's, Weft's defaults, Scrapy's.

        Scrapy adds the spider's own when it makes a crawler. Their place in that order does not
        depend on when they are added."""
        settings = self.settings.copy()
        settings.setdict(DEFAULTS, "command")
        settings.setdict(dict(overrides), "cmdline")
        addons = settings.getdict("ADDONS")
        if not any(str(name).startswith("weft.") for name in addons):
            settings.set("ADDONS", addons | {ADDON: 500}, "cmdline")
        return settings

    def settings_of_spider(self, overrides: Mapping[str, Any]) -> Settings:
        """The same, with the spider's own."""
        settings = self.settings_with(overrides)
        self.spider.update_settings(settings)
        return settings


def find_target(targets: Sequence[str], arguments: Mapping[str, str]) -> Target:
    """Raises TargetError or ConfigError; the message says how to fix it."""
    if [*targets] == [BOARDS_WORD] and not _is_of_project(BOARDS_WORD):
        targets = [BOARDS]
    found = _find(targets, arguments)
    return msgspec.structs.replace(found, words=tuple(targets), given=dict(arguments))


def _find(targets: Sequence[str], arguments: Mapping[str, str]) -> Target:
    if [*targets] == [BOARDS]:
        if arguments:
            raise ConfigError("-a is for spiders; boards take no arguments")
        return _boards()
    if all("://" in target for target in targets):
        if arguments:
            raise ConfigError("-a is for spiders; a URL takes no arguments")
        return _site(targets)
    if len(targets) > 1:
        raise TargetError(
            f"{' '.join(targets)}: several targets must all be URLs; run spiders one by one"
        )
    [target] = targets
    if target.endswith(".py"):
        return _file(target, arguments)
    return _project_spider(target, arguments)


def _boards() -> Target:
    # Imported here, because other crawls need none of it.
    from weft.engine.boards.spider import BoardSpider

    settings = Settings()
    settings.setdict(BOARD_SETTINGS, "project")
    return Target(BoardSpider, {}, settings, BoardSpider.name)


def _site(urls: Sequence[str]) -> Target:
    for url in urls:
        if not re.match(r"https?://", url, re.IGNORECASE) or not host_key(url):
            raise TargetError(f"{url} is not a web address; write http://HOST/… or https://HOST/…")
    settings = Settings()
    settings.setdict(SITE_SETTINGS, "project")
    redirect.logger.addFilter(_is_not_about_referer)
    starts = [browser_url(url) for url in urls]  # as the spider writes the links that it finds
    canonical = sorted({canonical_url(url) for url in starts})
    name = f"{host_key(urls[0]).strip('[]')}-{digest(canonical)}"
    return Target(SiteSpider, {"urls": starts}, settings, name)


def _is_not_about_referer(record: logging.LogRecord) -> bool:
    """Drop Scrapy's warning that redirects have no Referer: no link of a site crawl has one."""
    return record.levelno != logging.WARNING or REFERER not in str(record.msg)


def _file(target: str, arguments: Mapping[str, str]) -> Target:
    path = Path(target)
    if not path.is_file():
        raise TargetError(f"there is no file {target}")
    try:
        module = _import(path)
    except Exception as problem:
        raise _broken(target, problem) from problem
    spiders = [cls for cls in iter_spider_classes(module) if cls.__module__ == module.__name__]
    if len(spiders) != 1:
        names = ", ".join(cls.name for cls in spiders) or "none"
        raise TargetError(f"{target} must contain exactly one spider; it contains: {names}")
    return _spider(spiders[0], arguments, _project_settings())


def _import(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return import_module(path.stem)
    finally:
        sys.path.pop(0)


def _project_spider(name: str, arguments: Mapping[str, str]) -> Target:
    hint = f"; for a website, write https://{name}" if "." in name else ""
    init_env()  # a worker may know its settings module, but not where to import it from
    if not inside_project():
        raise TargetError(
            f"{name} is neither a URL nor a .py file, and this is not a Scrapy project (there is "
            f"no scrapy.cfg here or above){hint}"
        )
    settings = _project_settings()
    try:
        loader = get_spider_loader(settings)
    except Exception as problem:
        raise _broken("the spiders of this Scrapy project", problem) from problem
    try:
        spider = loader.load(name)
    except KeyError:
        known = ", ".join(sorted(loader.list())) or "none"
        raise TargetError(
            f"this Scrapy project has no spider {name!r}; it has: {known}{hint}"
        ) from None
    return _spider(spider, arguments, settings)


def _is_of_project(name: str) -> bool:
    """Whether it is a spider of the current project."""
    init_env()
    return inside_project() and name in get_spider_loader(_project_settings()).list()


def _project_settings() -> Settings:
    """The settings of the current project, or Scrapy's own."""
    try:
        return get_project_settings()
    except Exception as problem:
        raise _broken("the settings of this Scrapy project", problem) from problem


def project_sinks() -> list[str]:
    """WEFT_SINKS of the current project, if there is one."""
    return _project_settings().getlist("WEFT_SINKS") if inside_project() else []


def _broken(what: str, problem: Exception) -> TargetError:
    """The error for user code that does not load: what, and why."""
    return TargetError(f"{what} cannot be imported: {type(problem).__name__}: {problem}")


def _spider(spider: type[Spider], arguments: Mapping[str, str], settings: Settings) -> Target:
    return Target(spider, dict(arguments), settings, name_job(spider.name, arguments))

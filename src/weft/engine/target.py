"""What `weft crawl TARGET…` is told to crawl: URLs, a spider file, or a spider of a project."""

import logging
import re
import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
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
from weft.config import default_job_dir
from weft.engine.markup import DEFAULT_LIMITS
from weft.engine.spider import SiteSpider
from weft.errors import ConfigError, TargetError
from weft.urls import canonical_url, host_key

REFERER = "scrapy.spidermiddlewares.referer.RefererMiddleware"
#: Settings of `weft crawl URL`, below those that the user gives.
SITE_SETTINGS: Mapping[str, Any] = {
    "USER_AGENT": f"Weft/{__version__}",
    "ROBOTSTXT_OBEY": True,
    "WEFT_ORDER": "bfs",
    "CONCURRENT_ITEMS": 1,  # Scrapy starts so many tasks for every response
    "COOKIES_ENABLED": False,
    "DOWNLOAD_MAXSIZE": DEFAULT_LIMITS.max_bytes,  # more would not be parsed; unpacked, too
    "RETRY_TIMES": 1,  # one that failed twice is remembered, and tried again another day
    "RETRY_GIVE_UP_LOG_LEVEL": "INFO",  # the failure is logged anyway
    # What there is nothing to do for: our spider yields no requests, and we count pages ourselves.
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


class Target(msgspec.Struct, frozen=True):
    """A spider, what it is given, and the settings that it starts from."""

    spider: type[Spider]
    arguments: dict[str, Any]
    settings: Settings
    #: Where the job lives if the user names no store.
    job_dir: Path
    #: What it was found by; another process finds it by the same.
    words: tuple[str, ...] = ()
    given: Mapping[str, str] = {}

    def settings_of_spider(self) -> Settings:
        """The settings as the spider has them."""
        settings = self.settings.copy()
        self.spider.update_settings(settings)
        return settings


def find_target(targets: Sequence[str], arguments: Mapping[str, str]) -> Target:
    """Raises TargetError or ConfigError with the cure."""
    found = _find(targets, arguments)
    return msgspec.structs.replace(found, words=tuple(targets), given=dict(arguments))


def _find(targets: Sequence[str], arguments: Mapping[str, str]) -> Target:
    if all("://" in target for target in targets):
        if arguments:
            raise ConfigError("-a is for spiders; a URL takes no arguments")
        return _site(targets)
    if len(targets) > 1:
        raise TargetError(
            f"{' '.join(targets)}: several targets must all be URLs; crawl spiders one by one"
        )
    [target] = targets
    if target.endswith(".py"):
        return _file(target, arguments)
    return _project_spider(target, arguments)


def _site(urls: Sequence[str]) -> Target:
    for url in urls:
        if not re.match(r"https?://", url, re.IGNORECASE) or not host_key(url):
            raise TargetError(f"{url} is no web address; write http://HOST/… or https://HOST/…")
    settings = Settings()
    settings.setdict(SITE_SETTINGS, "project")
    redirect.logger.addFilter(_is_not_about_referer)
    canonical = sorted({canonical_url(url) for url in urls})
    name = f"{host_key(urls[0]).strip('[]')}-{_digest(canonical)}"
    return Target(SiteSpider, {"urls": list(urls)}, settings, default_job_dir(name))


def _is_not_about_referer(record: logging.LogRecord) -> bool:
    """Scrapy warns that redirects have no Referer; nor have the links of a site crawl."""
    return record.levelno != logging.WARNING or REFERER not in str(record.msg)


def _digest(urls: Sequence[str]) -> str:
    return blake2b("\n".join(urls).encode(), digest_size=4).hexdigest()


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
        raise TargetError(f"{target} must hold one spider; it holds {names}")
    return _spider(spiders[0], arguments, _project_settings())


def _import(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return import_module(path.stem)
    finally:
        sys.path.pop(0)


def _project_spider(name: str, arguments: Mapping[str, str]) -> Target:
    hint = f"; for a web site write https://{name}" if "." in name else ""
    init_env()  # a worker may be told where its settings are, but not where to import them from
    if not inside_project():
        raise TargetError(
            f"{name} is no URL and no .py file, and this is no Scrapy project (there is no "
            f"scrapy.cfg here or above){hint}"
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


def _project_settings() -> Settings:
    """The settings of the project that we are in, or Scrapy's own."""
    try:
        return get_project_settings()
    except Exception as problem:
        raise _broken("the settings of this Scrapy project", problem) from problem


def project_sinks() -> list[str]:
    """WEFT_SINKS of the project that we are in, if we are in one."""
    return _project_settings().getlist("WEFT_SINKS") if inside_project() else []


def _broken(what: str, problem: Exception) -> TargetError:
    """Code of the user's that does not load: which, and why."""
    return TargetError(f"{what} cannot be imported: {type(problem).__name__}: {problem}")


def _spider(spider: type[Spider], arguments: Mapping[str, str], settings: Settings) -> Target:
    # WEFT_STORE and JOBDIR of the project are read later, by the scheduler.
    return Target(spider, dict(arguments), settings, default_job_dir(spider.name))

"""Every private name of Scrapy and Twisted that Weft uses, checked when the add-on is loaded.

Names that can be imported are imported from here. Names of private modules, and those that are
overridden, replaced or read on objects, are listed in `USED` and `USED_BY_FEW`. Of Twisted no
private names are used, only some that it does not document.
"""

import scrapy
import twisted

from weft.compat import Library, PrivateNames

#: The versions that Weft was made for and is tested with; as in pyproject.toml.
SUPPORTED = "scrapy>=2.19,<2.20"
#: The version of Twisted that Weft is tested with; as in constraints.txt.
TESTED_TWISTED = "twisted==26.10.0"

SCRAPY = Library("Scrapy", scrapy.__version__, SUPPORTED)
TWISTED = Library("Twisted", twisted.__version__, TESTED_TWISTED)

try:
    from scrapy.core.engine import _Slot as EngineSlot
    from scrapy.exceptions import _InvalidOutput as InvalidOutput
    from scrapy.utils.defer import _process_pending_io as process_pending_io
    from scrapy.utils.ssl import _log_sslobj_debug_info as log_ssl_object
    from scrapy.utils.ssl import _make_ssl_context as make_ssl_context
except ImportError as problem:
    raise SCRAPY.unsupported(str(problem)) from problem

__all__ = [
    "EngineSlot",
    "InvalidOutput",
    "check_libraries",
    "log_ssl_object",
    "make_ssl_context",
    "process_pending_io",
]

#: The names of Scrapy, and where they are used.
USED: PrivateNames = {
    # `inprogress` reads the first; `lean.engine` uses all of them, and overrides the second.
    "scrapy.core.engine:ExecutionEngine": ("_slot", "_start_scheduled_request", "crawl"),
    "scrapy.core.engine:_Slot": ("add_request", "remove_request", "close"),
    # `lean.scraper`.
    "scrapy.core.scraper:Scraper": ("_scrape", "_check_if_closing", "start_itemproc_async"),
    "scrapy.core.scraper:Slot": ("MIN_RESPONSE_SIZE", "finish_response"),
    # `lean.spidering` and `lean.downloading`.
    "scrapy.middleware:MiddlewareManager": ("_mw_methods_requiring_spider", "_spider"),
    # `lean.signals` and `lean.downloading`.
    "scrapy.utils.defer:ensure_awaitable": ("_warn",),
    # `lean.spidering`.
    "scrapy.core.spidermw:SpiderMiddlewareManager": (
        "_process_callback_output",
        "_process_spider_exception",
        "_process_spider_input",
        "scrape_response_async",
    ),
    # `lean.downloading` overrides the last two.
    "scrapy.core.downloader.middleware:DownloaderMiddlewareManager": (
        "download_async",
        "_process_request",
        "_process_response",
    ),
    # `downloader` and `throttle`.
    "scrapy.core.downloader:Downloader": ("_enqueue_request", "_get_slot", "get_slot_key"),
    # `answers`.
    "scrapy.http:TextResponse": ("_declared_encoding",),
    # `http.handler` is derived from the class, and shares the functions with `http.exchange`.
    "scrapy.core.downloader.handlers._base_http": ("BaseHttpDownloadHandler",),
    "scrapy.core.downloader.handlers._base_http:BaseHttpDownloadHandler": (
        "_default_maxsize",
        "_default_warnsize",
        "_fail_on_dataloss",
        "_fail_on_dataloss_warned",
        "_tls_verbose_logging",
    ),
    # `unpacking` replaces them.
    "scrapy.downloadermiddlewares.httpcompression": ("gunzip", "_unzstd"),
    # `lean.urls` replaces them.
    "scrapy.http.request": ("safe_url_string",),
    "scrapy.linkextractors.lxmlhtml": ("safe_url_string",),
    # `weft.LinkExtractor`.
    "scrapy.linkextractors.lxmlhtml:LxmlLinkExtractor": (
        "_extract_links",
        "_link_allowed",
        "_process_links",
    ),
    "scrapy.linkextractors.lxmlhtml:LxmlParserLinkExtractor": ("_iter_links",),
}
#: The same for what few crawls load.
USED_BY_FEW: PrivateNames = {
    # `http.arrival` and `http.handler`.
    "scrapy.utils._download_handlers": (
        "check_stop_download",
        "get_dataloss_msg",
        "get_maxsize_msg",
        "get_warnsize_msg",
    ),
    # `extensions.filesstore` replaces the first, and uses the second.
    "scrapy.pipelines.files:FSFilesStore": ("_mkdir", "_get_filesystem_path"),
    # `extensions.media`.
    "scrapy.pipelines.media:MediaPipeline": ("_check_media_to_download",),
}
#: The names of Twisted.
USED_OF_TWISTED: PrivateNames = {
    # `politeness.stops` shuts the sockets of connections, which the reactor lists.
    "twisted.internet.tcp:Client": ("socket",),
    "twisted.internet.asyncioreactor:AsyncioSelectorReactor": ("getReaders", "getWriters"),
}


def check_libraries() -> None:
    """Raises EngineError if this Scrapy or Twisted does not have what is needed."""
    SCRAPY.check(USED)
    SCRAPY.check_sources(USED_BY_FEW)
    TWISTED.check(USED_OF_TWISTED)

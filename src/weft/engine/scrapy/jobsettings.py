"""Reads the settings of a crawl, once.

Spiders and add-ons may change settings until Scrapy builds its extensions. So an extension reads
them. That is also early enough to refuse wrong ones: nothing is open yet. Everything else is given
the result.
"""

import logging
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler

from weft.engine.naming import name_job
from weft.engine.scrapy.callers import spider_arguments
from weft.engine.settings import JobConfig, read_settings
from weft.engine.unusedsettings import unused_settings
from weft.errors import EngineError

logger = logging.getLogger(__name__)


class JobSettings:
    def __init__(self, config: JobConfig) -> None:
        self.config = config

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises ConfigError with all problems at once."""
        spider = crawler.spider or crawler.spidercls
        positional, arguments = spider_arguments(crawler)
        # A class may leave the name to its spiders, and tests of parts have no spider.
        name = name_job(getattr(spider, "name", ""), arguments, *positional)
        config = read_settings(crawler.settings, name)
        if job_dir := crawler.settings.get("JOBDIR"):
            # Scrapy's extensions would fail if another worker makes it at the same moment.
            Path(job_dir).mkdir(parents=True, exist_ok=True)
        for warning in unused_settings(crawler.settings):
            logger.warning(warning)
        return cls(config)


def config_of(crawler: Crawler) -> JobConfig:
    """The settings of the job that this crawler runs."""
    found = crawler.get_extension(JobSettings)
    if found is None:
        raise EngineError("Weft's components only work together; enable the add-on weft.Addon")
    return found.config

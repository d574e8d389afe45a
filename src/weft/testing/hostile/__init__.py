"""A web site that breaks every rule, in a process of its own, for tests of crawlers.

    with HostileServer() as site:
        crawl(site.urls)
        assert ...  # all of site.good_urls() arrived once

How a request is answered: `process` reads it from a connection, `site` looks up what is at its path
and plays that: bytes that need not be HTTP, as fast or as slowly as they are meant to come.
By hand: `python -m weft.testing.hostile --help`.
"""

from weft.testing.hostile.server import HostileServer

__all__ = ["HostileServer"]

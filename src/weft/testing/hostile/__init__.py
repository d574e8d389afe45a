"""A web site that breaks every rule, in its own process, for tests of crawlers.

    with HostileServer() as site:
        crawl(site.urls)
        assert ...  # all of site.good_urls() arrived once

`process` reads a request from a connection, `site` looks up the answer for its path and plays it:
bytes that need not be HTTP, sent as fast or as slowly as intended. Run it by hand:
`python -m weft.testing.hostile --help`.
"""

from weft.testing.hostile.server import HostileServer

__all__ = ["HostileServer"]

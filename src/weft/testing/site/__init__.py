"""A fast, deterministic web site in its own process, for tests, the demo and benchmarks.

    with SiteServer(Site(pages=50, flaky_every=7)) as site:
        crawl(site.url)
        assert {hit.path for hit in site.hits()} ...

`process` reads bytes from a connection, `wire` extracts a request from them, `responder` asks the
theme (`numbers` or the demo) and then the `special` paths for an answer, `process` waits for the
latency and sends it, and `hits` logs it. Run it by hand: `python -m weft.testing.site --help`.
"""

from weft.testing.site.hits import Hit
from weft.testing.site.options import Site
from weft.testing.site.server import SiteServer

__all__ = ["Hit", "Site", "SiteServer"]

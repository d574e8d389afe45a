"""A fast, deterministic web site in a process of its own, for tests, the demo and benchmarks.

    with SiteServer(Site(pages=50, flaky_every=7)) as site:
        crawl(site.url)
        assert {hit.path for hit in site.hits()} ...

How a request is answered: `process` reads bytes from a connection, `wire` cuts a request out of
them, `responder` asks the theme (`numbers` or the demo) and then the `special` paths for an
answer, `process` waits out the latency, sends it, and `hits` notes it down.
By hand: `python -m weft.testing.site --help`.
"""

from weft.testing.site.hits import Hit
from weft.testing.site.options import Site
from weft.testing.site.server import SiteServer

__all__ = ["Hit", "Site", "SiteServer"]

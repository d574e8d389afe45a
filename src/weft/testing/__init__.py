"""For tests of Weft and of what is built on it: a site, a clock, and contract suites.

`weft.testing.frontier_contract` and `weft.testing.sink_contract` are imported by their own names,
for they need pytest. The site server is a process that imports this package: keep it light.
"""

from weft.testing.clock import FakeClock
from weft.testing.site import Hit, Site, SiteServer

__all__ = ["FakeClock", "Hit", "Site", "SiteServer"]

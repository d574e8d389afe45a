"""For tests of Weft and of what is built on it: a site, a clock, waiting, and contract suites.

`weft.testing.frontier_contract` and `weft.testing.sink_contract` are imported by their own names,
for they need `pip install 'weft[testing]'`. Their tests are coroutines: give pytest the option
`asyncio_mode = "auto"`. The site server is a process that imports this package: keep it light.
"""

from weft.testing.clock import FakeClock
from weft.testing.site import Hit, Site, SiteServer
from weft.testing.waiting import until, wait_until

__all__ = ["FakeClock", "Hit", "Site", "SiteServer", "until", "wait_until"]

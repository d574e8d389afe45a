"""For tests of Weft and of code built on it: a site, a clock, waiting, and contract suites.

Import `weft.testing.frontier_contract` and `weft.testing.sink_contract` by their full names,
because they need `pip install 'weft[testing]'`. Their tests are coroutines: give pytest the option
`asyncio_mode = "auto"`. The site server is a process that imports this package: keep it light.
"""

from weft.testing.clock import FakeClock
from weft.testing.site import Hit, Site, SiteServer
from weft.testing.waiting import until, wait_until

__all__ = ["FakeClock", "Hit", "Site", "SiteServer", "until", "wait_until"]

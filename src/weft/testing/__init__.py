"""What tests of Weft, and of crawlers built on it, need: real servers and no mocks.

The site server is a process that imports this package: keep its imports light.
"""

from weft.testing.site import Hit, Site, SiteServer

__all__ = ["Hit", "Site", "SiteServer"]

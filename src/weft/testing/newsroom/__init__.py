"""The three newspapers of the demo, served by a process, for tests of crawls of boards.

    with NewsroomServer() as site:
        crawl(site.entries)
        assert ...  # all of site.newsroom.stories() are stored
        site.publish(1)
        crawl(site.entries)
        assert ...  # those that are new, too

Each paper has an address of its own, all on one port; on a Mac, which has but one address of
loopback, `by_port=True` gives each a port of its own. Run it by hand:
`python -m weft.testing.newsroom --help`.
"""

from weft.testing.newsroom.server import NewsroomServer

__all__ = ["NewsroomServer"]

"""How a crawl came to a page of a board."""

from enum import StrEnum


class FoundAs(StrEnum):
    #: The board names it.
    ENTRY = "entry"
    #: A topic link of a list, or what an article pattern names.
    TOPIC = "topic"
    #: The next page of a list.
    NEXT = "next"
    #: Any other link of a list.
    LINK = "link"
    #: A feed that a page announces.
    FEED = "feed"
    #: A sitemap that a site announces.
    SITEMAP = "sitemap"
    #: A page that a sitemap lists.
    LISTED = "listed"
    #: A link of a search engine, which leads to the real page.
    JUMP = "jump"

    @property
    def is_followed(self) -> bool:
        """Whether its links are followed whatever it looks like."""
        return self in (FoundAs.ENTRY, FoundAs.NEXT)

    @property
    def is_topic(self) -> bool:
        return self in (FoundAs.TOPIC, FoundAs.JUMP)

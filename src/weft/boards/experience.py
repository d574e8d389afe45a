"""What a crawl has learnt about a board's pages: how they are linked, what their shapes say.

It tells the judge of a page how the crawl came there. It is bounded, and kept by each worker for
itself: a host is served by one worker most of the time. The votes by URL shape are also kept in the
store, so that a worker that starts knows them.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from weft.boards.alike import Address, narrow_shape
from weft.boards.foundas import FoundAs
from weft.boards.reading.provenance import Provenance

#: Pages whose links are counted; those that were met the longest ago are forgotten.
MAX_PAGES = 100_000
#: So many times as many articles as lists are most of them.
MOSTLY = 3
#: Shapes that have votes.
MAX_SHAPES = 1_000


class Experience:
    """Of one board."""

    def __init__(self, votes: Mapping[str, tuple[int, int]]) -> None:
        """`votes`: by shape, how many pages were articles and how many were lists."""
        self._votes: dict[str, tuple[int, int]] = dict(votes)
        #: Votes that the store has not been told yet.
        self.new_votes: dict[str, tuple[int, int]] = {}
        # By hash of the URL: links that lead there, and topic links.
        self._links: OrderedDict[int, tuple[int, int]] = OrderedDict()

    def note_links(self, urls: Iterable[str], topics: Iterable[str]) -> None:
        """A list links to these pages; `topics` are those of its topic links."""
        chosen = {*topics}
        for url in {*urls} | chosen:
            key = hash(url)
            links, topic_links = self._links.pop(key, (0, 0))
            self._links[key] = (links + 1, topic_links + (url in chosen))
        while len(self._links) > MAX_PAGES:
            self._links.popitem(last=False)

    def provenance(self, url: str, found_as: FoundAs) -> Provenance:
        """How the crawl came to a page: by the link that it was queued for, and others since."""
        is_linked = found_as in (FoundAs.TOPIC, FoundAs.LINK)
        first = (int(is_linked), int(found_as is FoundAs.TOPIC))
        links, topic_links = self._links.get(hash(url), first)
        articles, lists = self._votes.get(shape_of(url), (0, 0))
        return Provenance(
            links=0 if found_as.is_followed else links,
            topic_links=topic_links,
            is_followed=found_as.is_followed,
            articles_alike=articles,
            lists_alike=lists,
        )

    def are_articles(self, url: str) -> bool:
        """Whether pages with addresses like this one are mostly articles."""
        articles, lists = self._votes.get(shape_of(url), (0, 0))
        return articles >= MOSTLY * max(1, lists)

    def note_verdict(self, url: str, *, is_article: bool) -> None:
        """A page votes: once, and as it is without the votes of others."""
        shape = shape_of(url)
        if shape in self._votes or len(self._votes) < MAX_SHAPES:
            _vote(self._votes, shape, is_article)
            _vote(self.new_votes, shape, is_article)

    def take_new_votes(self) -> dict[str, tuple[int, int]]:
        taken, self.new_votes = self.new_votes, {}
        return taken


def shape_of(url: str) -> str:
    """What pages of one kind share. Words tell lists from articles: `/tag/ferry/` is not like
    `/news/ferry/`."""
    return narrow_shape(Address.of(url))


def _vote(votes: dict[str, tuple[int, int]], shape: str, is_article: bool) -> None:
    articles, lists = votes.get(shape, (0, 0))
    votes[shape] = (articles + is_article, lists + (not is_article))

"""A virtual web to crawl: hosts, pages of 60 links, URLs of 90 characters.

URLs look like those of real sites: a section, a slug of words, a number. The words are drawn from
English text, so that frequent ones are frequent; how well URLs compress depends on that. Everything
follows from the numbers of hosts and URLs: two runs measure the same.
"""

import random
import re
import struct
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from pydoc_data.topics import topics
from typing import NamedTuple

URL_LENGTH = 90
LINKS_PER_PAGE = 60
#: Links that are the same on all pages of a host.
MENU_LINKS = 15

WORDS = re.findall(r"[a-z]{3,12}", " ".join(topics[name] for name in sorted(topics)).lower())
#: The parts before and after the slug; sites of three kinds.
_FORMS = (
    ("https://www.{host}/{section}/2025/{month:02}/", "-{number}.html"),
    ("https://{host}/c/{section}/p/", "?id={number}"),
    ("https://forum.{host}/{section}/threads/", ".{number}/"),
)
_FIRST_NUMBER, _NUMBERS, _STEP = 1_000_000, 9_000_000, 7_919  # all have seven digits
_DRAWS = struct.Struct(">16H")


class Page(NamedTuple):
    """A fetched page and its links."""

    url: str
    links: list[str]


class Site:
    """One host; `url(n)` is the n-th of its URLs, always the same."""

    def __init__(self, name: str, form: int) -> None:
        self._name = name
        self._form = _FORMS[form % len(_FORMS)]
        #: URLs found so far.
        self.found = 0

    def url(self, number: int) -> str:
        key = self._name.encode()
        draws = _DRAWS.unpack(blake2b(number.to_bytes(8, "big"), digest_size=32, key=key).digest())
        before, after = self._form
        start = before.format(
            host=self._name, section=WORDS[draws[0] % 40], month=draws[1] % 12 + 1
        )
        end = after.format(number=_FIRST_NUMBER + number * _STEP % _NUMBERS)
        slug = "-".join(WORDS[draw % len(WORDS)] for draw in draws[2:])
        return start + slug[: URL_LENGTH - len(start) - len(end)] + end

    def page(self, rng: random.Random, new: int, known: int) -> Page:
        """The next page of this host, with `new` new links and `known` known ones."""
        own = self.url(rng.randrange(self.found + 1))
        numbers = [*range(self.found, self.found + new)]
        for i in range(known):
            most = min(MENU_LINKS, self.found) if i < MENU_LINKS else self.found
            numbers.append(rng.randrange(most) if most else 0)
        self.found += new
        rng.shuffle(numbers)
        return Page(own, [self.url(number) for number in numbers])


class Web:
    """Hosts that are crawled in parallel, in turn."""

    def __init__(self, hosts: int, seed: int = 1) -> None:
        self._rng = random.Random(seed)
        names = (f"{WORDS[-1 - i * 7]}-{i}.example" for i in range(hosts))
        self.sites = [Site(name, i) for i, name in enumerate(names)]
        self._turn = 0

    def pages(self, known_share: float = 0.0) -> Iterator[Page]:
        """Page after page, endlessly."""
        known = round(LINKS_PER_PAGE * known_share)
        while True:
            site = self.sites[self._turn % len(self.sites)]
            self._turn += 1
            yield site.page(self._rng, LINKS_PER_PAGE - known, known)

    def pages_for(self, urls: int) -> Iterator[Page]:
        """Pages with this many URLs in total, all new; the last page may have fewer."""
        whole, rest = divmod(urls, LINKS_PER_PAGE)
        yield from islice(self.pages(), whole)
        if rest:
            [page] = islice(self.pages(), 1)
            yield Page(page.url, page.links[:rest])

    def pages_of_each(self, urls: int) -> Iterator[Page]:
        """Pages with this many new URLs for each host."""
        for first in range(0, urls, LINKS_PER_PAGE):
            for site in self.sites:
                yield site.page(self._rng, min(LINKS_PER_PAGE, urls - first), 0)

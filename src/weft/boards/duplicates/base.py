"""Which articles were met before: the contract of an index of near-duplicates."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

from weft.boards.duplicates.signature import Signature

#: So many articles are remembered. With a URL of 75 characters, one takes 400 bytes in Redis and
#: 420 in a file.
MAX_ARTICLES = 200_000
#: So many articles are found by one mark: those that were met last. All articles of a site that end
#: with the same long notice may have a mark in common.
MAX_PER_MARK = 12


class SignedArticle(NamedTuple):
    url: str
    signature: Signature


class DuplicateIndex(Protocol):
    """The articles that the boards of one job have met, so that repeated ones are recognised.

    Any number of processes have it open at the same time.

    * **The original, no chain.** The answer for an article is the URL of the one that came first;
      what repeats a repetition gets the same answer. Of several, the most similar one counts.
    * **Once and for all.** A URL that is met again, with whatever text, gets the answer that it got
      before: pages are fetched twice after a kill, and again for updates. No article is its own
      duplicate.
    * **All or nothing.** A call takes effect as a whole or not at all, and has taken effect when it
      returns. It survives `kill -9` of this process, and of the store's as far as the store keeps
      what it has confirmed; a file may lose the last answers if the power fails.
    * **In order.** Articles of one call are met one after the other; calls at the same time, too.
    * **Bounded.** `max_articles` are remembered. When there are more, those that were met least
      recently are forgotten. Repeating an article counts as meeting its original. By each mark, at
      most `MAX_PER_MARK` are found, those met last. What was forgotten is met for the first time
      again.

    URLs come from a frontier, which limits their length. Construction does no I/O. Raises
    StoreError.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    async def meet(self, articles: Sequence[tuple[str, Signature]]) -> list[str | None]:
        """For each article, given with its URL, the URL of the one that it repeats; None: it is
        new. It is remembered."""
        ...

    async def forget(self) -> None:
        """Forget all articles."""
        ...

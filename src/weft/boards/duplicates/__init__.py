"""Near-duplicates: the same story on several pages, sites and boards of a job.

An article is signed (`signature`), which takes a fraction of a millisecond, and its signature is
compared (`rule`) with those of the earlier articles that an index finds by its marks. `base` has
the contract of the index.
"""

from pathlib import Path

from weft.boards.duplicates.base import MAX_ARTICLES, DuplicateIndex, SignedArticle
from weft.boards.duplicates.signature import Signature, sign
from weft.boards.duplicates.sqlite import SqliteDuplicates

__all__ = [
    "DUPLICATES_FILE",
    "DuplicateIndex",
    "Signature",
    "SignedArticle",
    "forget_duplicates",
    "open_duplicates",
    "sign",
]

#: In the directory of a job.
DUPLICATES_FILE = "duplicates.db"


def open_duplicates(
    place: Path | str, job: str, *, max_articles: int = MAX_ARTICLES
) -> DuplicateIndex:
    """The index of a job, not opened yet: `async with` opens and closes. `place` is the directory
    of a job on an embedded store, or the address of a shared one."""
    if isinstance(place, Path):
        return SqliteDuplicates(place / DUPLICATES_FILE, max_articles=max_articles)
    # Here, for an embedded store needs no Redis client.
    from weft.boards.duplicates.redis import RedisDuplicates

    return RedisDuplicates(place, job, max_articles=max_articles)


async def forget_duplicates(place: Path | str, job: str) -> None:
    """Forget the articles of a job, together with its items. Makes no file."""
    if isinstance(place, Path) and not (place / DUPLICATES_FILE).exists():
        return
    async with open_duplicates(place, job) as index:
        await index.forget()

"""What boards have left besides articles, which is forgotten when their crawl starts over."""

from pathlib import Path

from weft.boards.duplicates import forget_duplicates
from weft.boards.store import forget_statistics


async def forget_past(place: Path | str, job: str) -> None:
    """Forget which articles a job has met, and what became of its boards; these stay. `place` as
    for `open_board_store`. Makes no file."""
    await forget_duplicates(place, job)
    await forget_statistics(place, job)

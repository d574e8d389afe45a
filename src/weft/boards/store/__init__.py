"""Where the boards of a job live, and what its crawl tells about them. `base` has the contract.

A job on an embedded store has them in a file of its directory, also with several workers on this
machine; a job on a shared store has them there, where all of its workers find them.
"""

from pathlib import Path

from weft.boards.store.base import (
    BoardProblem,
    BoardReport,
    BoardStatistics,
    BoardStore,
    PutResult,
    PutStatus,
    ShapeVotes,
    StoredBoard,
)
from weft.boards.store.sqlite import SqliteBoardStore

__all__ = [
    "BOARDS_FILE",
    "BoardProblem",
    "BoardReport",
    "BoardStatistics",
    "BoardStore",
    "PutResult",
    "PutStatus",
    "ShapeVotes",
    "StoredBoard",
    "forget_statistics",
    "open_board_store",
]

#: In the directory of a job.
BOARDS_FILE = "boards.db"


def open_board_store(place: Path | str, job: str, *, is_brief: bool = False) -> BoardStore:
    """The boards of a job, not opened yet: `async with` opens and closes. `place` is the directory
    of a job on an embedded store, or the address of a shared one. `is_brief`: for a command, which
    tells soon that a server does not answer."""
    if isinstance(place, Path):
        return SqliteBoardStore(place / BOARDS_FILE)
    # Here, for an embedded store needs no Redis client.
    from weft.boards.store.redis import RedisBoardStore
    from weft.redis.client import DEFAULT_PATIENCE_S, SHORT_PATIENCE_S

    patience_s = SHORT_PATIENCE_S if is_brief else DEFAULT_PATIENCE_S
    return RedisBoardStore(place, job, patience_s=patience_s)


async def forget_statistics(place: Path | str, job: str) -> None:
    """Forget what became of the boards of a job, together with its crawl. Makes no file."""
    if isinstance(place, Path) and not (place / BOARDS_FILE).exists():
        return
    async with open_board_store(place, job) as store:
        await store.forget_statistics()

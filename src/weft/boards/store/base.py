"""Where boards live: the contract of a store of boards."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, Self

import msgspec

from weft.boards.board.board import Board, BoardSource

#: So many problems of a board are kept: the latest.
MAX_PROBLEMS = 20
#: If a board has votes for more shapes than this …
MAX_SHAPES = 1_000
#: … so many are kept: those that were voted for last.
KEPT_SHAPES = 900
#: Longer texts of problems are cut.
MAX_TEXT = 500
MAX_URL = 2_083


class PutStatus(StrEnum):
    """What became of a board that was put into a store."""

    ADDED = "added"
    CHANGED = "changed"
    #: It was there already, the same to the letter.
    UNCHANGED = "unchanged"


class PutResult(NamedTuple):
    """What became of a board that was put under a condition."""

    #: None: nothing, for it has another version.
    status: PutStatus | None
    #: The version that it has now; 0: there is no such board.
    version: int


class StoredBoard(msgspec.Struct, frozen=True):
    """A board in a store."""

    board: Board
    #: The text that it was read from.
    text: str
    is_paused: bool
    added_at_ms: int
    #: When it was last changed, paused or resumed.
    changed_at_ms: int
    #: The revision of the store that this was. No other state of a board has the same.
    version: int


class ShapeVotes(NamedTuple):
    """How many pages with URLs of one shape were judged to be articles, and lists."""

    articles: int = 0
    lists: int = 0


class BoardProblem(msgspec.Struct, frozen=True):
    """Something that a user should know about a board."""

    #: The page that it is about; empty: none.
    url: str
    what: str
    at_ms: int


class BoardReport(msgspec.Struct, frozen=True):
    """What became of pages of a board since the last report."""

    #: How many, by what happened: pages, articles, failed …
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    #: By URL shape.
    votes: Mapping[str, ShapeVotes] = msgspec.field(default_factory=dict)
    problems: Sequence[BoardProblem] = ()


class BoardStatistics(msgspec.Struct, frozen=True):
    """All that was reported of a board."""

    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    votes: Mapping[str, ShapeVotes] = msgspec.field(default_factory=dict)
    #: The latest first.
    problems: tuple[BoardProblem, ...] = ()
    #: When the last report came; 0: there was none.
    noted_at_ms: int = 0


class BoardStore(Protocol):
    """The boards of one job, and what its crawl reports of them.

    Any number of processes have it open at the same time: a user adds a board while workers crawl.

    * **All or nothing.** A call takes effect as a whole or not at all, and has taken effect when it
      returns: neither `kill -9` of this process nor of the store's loses that, as far as the store
      keeps what it has confirmed. Only `statistics` may see a part of a report that comes at the
      same time.
    * **Exactly once.** Reports count once, even if the connection is lost on the way.
    * **Bounded.** A board keeps its last 20 problems, each page with the same problem only once,
      the latest time; and the votes of at most 1,000 shapes. Others are forgotten, first those that
      were not reported for longest.
    * **By name.** Names are as the files of boards may have them. A board that is put again keeps
      its state and its statistics; one that is removed loses both, and reports about it are
      ignored.

    Construction does no I/O. Raises StoreError.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    async def boards(self) -> list[StoredBoard]:
        """All boards, by name."""
        ...

    async def revision(self) -> int:
        """Grows whenever a board is added, changed, paused, resumed or removed; otherwise the same.
        Cheap enough to be asked every second."""
        ...

    async def put(self, sources: Sequence[BoardSource]) -> list[PutStatus]:
        """Add boards, or change those with the same names."""
        ...

    async def put_if(self, source: BoardSource, version: int | None) -> PutResult:
        """Add or change a board if it still has this version; 0: if there is none; None: in any
        case. One that says the same already is unchanged, whatever its version."""
        ...

    async def set_paused(self, name: str, is_paused: bool) -> bool:
        """Whether there is such a board. Nothing changes if it is in that state already."""
        ...

    async def remove(self, name: str) -> bool:
        """Whether there was such a board."""
        ...

    async def note(self, reports: Mapping[str, BoardReport]) -> None:
        """Add up reports, by board."""
        ...

    async def forget_statistics(self) -> None:
        """Forget all that was reported of all boards. The boards stay as they are."""
        ...

    async def statistics(
        self, names: Sequence[str], *, has_votes: bool = True
    ) -> list[BoardStatistics]:
        """One for each name, empty for what there is not. `has_votes`: with the votes of shapes, of
        which there may be many."""
        ...


def clipped(problem: BoardProblem) -> BoardProblem:
    return BoardProblem(problem.url[:MAX_URL], problem.what[:MAX_TEXT], problem.at_ms)

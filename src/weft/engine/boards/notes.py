"""What a worker has to tell of a board: what became of its pages, and what its user should know."""

from collections import Counter
from collections.abc import Mapping

from weft.boards.store import BoardProblem, BoardReport, ShapeVotes
from weft.boards.store.base import MAX_PROBLEMS
from weft.clock import SystemClock
from weft.urls import host_key

#: Problems of sites that are told once.
MAX_TOLD = 100


class BoardNotes:
    """Kept here until the store has them."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._counts: Counter[str] = Counter()
        self._votes: dict[str, ShapeVotes] = {}
        self._problems: list[BoardProblem] = []
        self._told: set[tuple[str, str]] = set()

    def count(self, name: str, number: int = 1) -> None:
        if number:
            self._counts[name] += number

    def counted(self, name: str) -> int:
        """So many that the store does not know of."""
        return self._counts[name]

    def add_problem(self, url: str, what: str) -> None:
        self._problems.append(BoardProblem(url, what, self._clock.now_ms()))
        del self._problems[:-MAX_PROBLEMS]

    def add_problem_of_site(self, url: str, what: str) -> None:
        """The same for what all pages of a site may have: it is told of the first one."""
        site = (host_key(url), what)
        if site not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(site)
            self.add_problem(url, what)

    def add_votes(self, votes: Mapping[str, tuple[int, int]]) -> None:
        """By URL shape: how many pages were articles, and lists."""
        for shape, (articles, lists) in votes.items():
            known = self._votes.get(shape, ShapeVotes())
            self._votes[shape] = ShapeVotes(known.articles + articles, known.lists + lists)

    def report(self) -> BoardReport:
        """All of it, also what comes while it is being told."""
        return BoardReport(dict(self._counts), dict(self._votes), tuple(self._problems))

    def forget(self, report: BoardReport) -> None:
        """The store has it now."""
        self._counts.subtract(report.counts)
        self._counts = +self._counts
        for shape, (articles, lists) in report.votes.items():
            known = self._votes.pop(shape)
            if known != (articles, lists):
                self._votes[shape] = ShapeVotes(known.articles - articles, known.lists - lists)
        told = {id(problem) for problem in report.problems}
        self._problems = [problem for problem in self._problems if id(problem) not in told]

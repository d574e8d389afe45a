"""Boards in an SQLite file, in the directory of a job on an embedded store.

Each call is one transaction, in a thread of this store. Several processes may have the file open.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

from weft.boards.board.board import BoardSource, pack_board
from weft.boards.store.base import (
    KEPT_SHAPES,
    MAX_PROBLEMS,
    MAX_SHAPES,
    BoardProblem,
    BoardReport,
    BoardStatistics,
    PutResult,
    PutStatus,
    ShapeVotes,
    StoredBoard,
    clipped,
)
from weft.boards.store.sqlitefile import errors_of, open_file, transaction
from weft.boards.store.stored import read_stored
from weft.clock import Clock, SystemClock
from weft.thread import WorkThread

FORMAT = 1
SCHEMA = (
    """CREATE TABLE boards (
        name TEXT PRIMARY KEY,
        board TEXT NOT NULL,
        text TEXT NOT NULL,
        is_paused INTEGER NOT NULL DEFAULT 0,
        added_at_ms INTEGER NOT NULL,
        changed_at_ms INTEGER NOT NULL,
        version INTEGER NOT NULL,
        noted_at_ms INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    "CREATE TABLE revision (number INTEGER NOT NULL)",
    "INSERT INTO revision VALUES (0)",
    """CREATE TABLE counts (
        board TEXT NOT NULL REFERENCES boards ON DELETE CASCADE,
        name TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (board, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE votes (
        board TEXT NOT NULL REFERENCES boards ON DELETE CASCADE,
        shape TEXT NOT NULL,
        articles INTEGER NOT NULL,
        lists INTEGER NOT NULL,
        noted_at_ms INTEGER NOT NULL,
        PRIMARY KEY (board, shape)
    ) WITHOUT ROWID""",
    """CREATE TABLE problems (
        board TEXT NOT NULL REFERENCES boards ON DELETE CASCADE,
        url TEXT NOT NULL,
        what TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (board, url, what)
    ) WITHOUT ROWID""",
)

Answer = TypeVar("Answer")


class SqliteBoardStore:
    """A `BoardStore`."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._thread = WorkThread("weft-boards")
        self._file: _BoardFile | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._thread.run(self._open)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._thread.run(self._close)
        finally:
            self._thread.stop()

    def _open(self) -> None:
        with errors_of(self._path):
            self._file = _BoardFile(open_file(self._path, SCHEMA, FORMAT), str(self._path))

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.connection.close()

    async def boards(self) -> list[StoredBoard]:
        return await self._run(lambda file: file.boards())

    async def revision(self) -> int:
        return await self._run(lambda file: file.revision())

    async def put(self, sources: Sequence[BoardSource]) -> list[PutStatus]:
        now_ms = self._clock.now_ms()
        return await self._change(lambda file: [file.put(source, now_ms) for source in sources])

    async def put_if(self, source: BoardSource, version: int | None) -> PutResult:
        now_ms = self._clock.now_ms()
        return await self._change(lambda file: file.put_if(source, version, now_ms))

    async def set_paused(self, name: str, is_paused: bool) -> bool:
        now_ms = self._clock.now_ms()
        return await self._change(lambda file: file.set_paused(name, is_paused, now_ms))

    async def remove(self, name: str) -> bool:
        return await self._change(lambda file: file.remove(name))

    async def note(self, reports: Mapping[str, BoardReport]) -> None:
        if reports:
            now_ms = self._clock.now_ms()
            await self._change(lambda file: file.note(reports, now_ms))

    async def forget_statistics(self) -> None:
        await self._change(lambda file: file.forget_statistics())

    async def statistics(
        self, names: Sequence[str], *, has_votes: bool = True
    ) -> list[BoardStatistics]:
        return await self._run(
            lambda file: [file.statistics(name, has_votes=has_votes) for name in names]
        )

    async def _change(self, work: Callable[["_BoardFile"], Answer]) -> Answer:
        def change(file: _BoardFile) -> Answer:
            with transaction(file.connection):
                return work(file)

        return await self._run(change)

    async def _run(self, work: Callable[["_BoardFile"], Answer]) -> Answer:
        def run() -> Answer:
            assert self._file is not None, "the store is open"
            with errors_of(self._path):
                return work(self._file)

        return await self._thread.run(run)


class _BoardFile:
    """The statements. Runs in the thread of its store."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self.connection = connection
        self._place = place
        self._do = connection.execute

    def boards(self) -> list[StoredBoard]:
        rows = self._do(
            "SELECT name, board, text, is_paused, added_at_ms, changed_at_ms, version FROM boards "
            "ORDER BY name"
        ).fetchall()
        return [
            StoredBoard(read_stored(name, board, self._place), text, bool(is_paused), *rest)
            for name, board, text, is_paused, *rest in rows
        ]

    def revision(self) -> int:
        (number,) = self._do("SELECT number FROM revision").fetchone()
        return int(number)

    def _next_revision(self) -> int:
        self._do("UPDATE revision SET number = number + 1")
        return self.revision()

    def put(self, source: BoardSource, now_ms: int) -> PutStatus:
        name, packed = source.board.name, pack_board(source.board)
        found = self._do("SELECT board, text FROM boards WHERE name = ?", (name,)).fetchone()
        if found == (packed, source.text):
            return PutStatus.UNCHANGED
        self._do(
            "INSERT INTO boards (name, board, text, added_at_ms, changed_at_ms, version) "
            "VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT (name) DO UPDATE SET "
            "board = ?2, text = ?3, changed_at_ms = ?4, version = ?5",
            (name, packed, source.text, now_ms, self._next_revision()),
        )
        return PutStatus.CHANGED if found else PutStatus.ADDED

    def put_if(self, source: BoardSource, version: int | None, now_ms: int) -> PutResult:
        name, said = source.board.name, (pack_board(source.board), source.text)
        columns = "SELECT board, text, version FROM boards WHERE name = ?"
        *before, found = self._do(columns, (name,)).fetchone() or ("", "", 0)
        if version not in (None, found) and tuple(before) != said:
            return PutResult(None, found)
        status = self.put(source, now_ms)
        *_, found = self._do(columns, (name,)).fetchone()
        return PutResult(status, found)

    def set_paused(self, name: str, is_paused: bool, now_ms: int) -> bool:
        found = self._do("SELECT is_paused FROM boards WHERE name = ?", (name,)).fetchone()
        if found == (not is_paused,):
            self._do(
                "UPDATE boards SET is_paused = ?, changed_at_ms = ?, version = ? WHERE name = ?",
                (is_paused, now_ms, self._next_revision(), name),
            )
        return found is not None

    def remove(self, name: str) -> bool:
        is_there = self._do("DELETE FROM boards WHERE name = ?", (name,)).rowcount > 0
        if is_there:
            self._next_revision()
        return is_there

    def note(self, reports: Mapping[str, BoardReport], now_ms: int) -> None:
        for name, report in reports.items():
            noted = self._do("UPDATE boards SET noted_at_ms = ? WHERE name = ?", (now_ms, name))
            if noted.rowcount:
                self._add_counts(name, report.counts)
                self._add_votes(name, report.votes, now_ms)
                self._add_problems(name, report.problems)

    def _add_counts(self, name: str, counts: Mapping[str, int]) -> None:
        self.connection.executemany(
            "INSERT INTO counts VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET number = number + excluded.number",
            [(name, each, number) for each, number in counts.items()],
        )

    def _add_votes(self, name: str, votes: Mapping[str, ShapeVotes], now_ms: int) -> None:
        if not votes:
            return
        self.connection.executemany(
            "INSERT INTO votes VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "articles = articles + excluded.articles, lists = lists + excluded.lists, "
            "noted_at_ms = excluded.noted_at_ms",
            [(name, shape, *vote, now_ms) for shape, vote in votes.items()],
        )
        (shapes,) = self._do("SELECT count(*) FROM votes WHERE board = ?", (name,)).fetchone()
        if shapes > MAX_SHAPES:
            self._do(
                "DELETE FROM votes WHERE board = ?1 AND shape IN (SELECT shape FROM votes "
                "WHERE board = ?1 ORDER BY noted_at_ms DESC, shape LIMIT -1 OFFSET ?2)",
                (name, KEPT_SHAPES),
            )

    def _add_problems(self, name: str, problems: Sequence[BoardProblem]) -> None:
        if not problems:
            return
        self.connection.executemany(
            "INSERT INTO problems VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET at_ms = max(at_ms, excluded.at_ms)",
            [(name, each.url, each.what, each.at_ms) for each in map(clipped, problems)],
        )
        self._do(
            "DELETE FROM problems WHERE board = ?1 AND (url, what) IN (SELECT url, what "
            "FROM problems WHERE board = ?1 ORDER BY at_ms DESC, url, what LIMIT -1 OFFSET ?2)",
            (name, MAX_PROBLEMS),
        )

    def forget_statistics(self) -> None:
        for table in ("counts", "votes", "problems"):
            self._do(f"DELETE FROM {table}")
        self._do("UPDATE boards SET noted_at_ms = 0")

    def statistics(self, name: str, *, has_votes: bool) -> BoardStatistics:
        noted = self._do("SELECT noted_at_ms FROM boards WHERE name = ?", (name,)).fetchone()
        if noted is None:
            return BoardStatistics()
        counts = self._do("SELECT name, number FROM counts WHERE board = ?", (name,)).fetchall()
        votes = (
            self._do("SELECT shape, articles, lists FROM votes WHERE board = ?", (name,)).fetchall()
            if has_votes
            else []
        )
        problems = self._do(
            "SELECT url, what, at_ms FROM problems WHERE board = ? ORDER BY at_ms DESC, url, what",
            (name,),
        ).fetchall()
        return BoardStatistics(
            dict(counts),
            {shape: ShapeVotes(articles, lists) for shape, articles, lists in votes},
            tuple(BoardProblem(*row) for row in problems),
            *noted,
        )

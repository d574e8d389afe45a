"""The index of near-duplicates in an SQLite file, in the directory of a job on an embedded store.

Each call is one transaction, in a thread of this index. Several processes may have the file open.
"""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from weft.boards.duplicates.base import MAX_ARTICLES, MAX_PER_MARK
from weft.boards.duplicates.rule import distance, is_duplicate
from weft.boards.duplicates.signature import BITS, Signature, unpack_signature
from weft.boards.store.sqlitefile import errors_of, open_file, transaction
from weft.thread import WorkThread

FORMAT = 1
SCHEMA = (
    # `met` grows with each meeting; `original` is empty for what repeats nothing.
    """CREATE TABLE articles (
        id INTEGER PRIMARY KEY,
        url TEXT NOT NULL UNIQUE,
        signature BLOB NOT NULL,
        original TEXT NOT NULL,
        met INTEGER NOT NULL
    )""",
    "CREATE INDEX by_met ON articles (met)",
    """CREATE TABLE marks (
        mark INTEGER NOT NULL,
        article INTEGER NOT NULL,
        met INTEGER NOT NULL,
        PRIMARY KEY (mark, article)
    ) WITHOUT ROWID""",
    # How many articles there are: counting them would take longer than everything else.
    "CREATE TABLE size (number INTEGER NOT NULL)",
    "INSERT INTO size VALUES (0)",
)
#: What it should be, and what to do if it is not.
OF_FILE = ("duplicates", "go on; only duplicates of earlier articles are no longer found")

Answer = TypeVar("Answer")


class SqliteDuplicates:
    """A `DuplicateIndex`."""

    def __init__(self, path: Path, *, max_articles: int = MAX_ARTICLES) -> None:
        self._path = path
        self._max_articles = max_articles
        self._thread = WorkThread("weft-duplicates")
        self._file: _DuplicatesFile | None = None

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
        with errors_of(self._path, *OF_FILE):
            connection = open_file(self._path, SCHEMA, FORMAT)
            # Nothing waits for the disk: what is lost with the power is found again, as new.
            connection.execute("PRAGMA synchronous = NORMAL")
            self._file = _DuplicatesFile(connection, self._max_articles)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.connection.close()

    async def meet(self, articles: Sequence[tuple[str, Signature]]) -> list[str | None]:
        if not articles:
            return []
        return await self._change(lambda file: [file.meet(*article) for article in articles])

    async def forget(self) -> None:
        await self._change(lambda file: file.forget_all())

    async def _change(self, work: "Callable[[_DuplicatesFile], Answer]") -> Answer:
        def change() -> Answer:
            file = self._file
            assert file is not None, "the index is open"
            with errors_of(self._path, *OF_FILE), transaction(file.connection):
                return work(file)

        return await self._thread.run(change)


class _DuplicatesFile:
    """The statements. Runs in the thread of its index."""

    def __init__(self, connection: sqlite3.Connection, max_articles: int) -> None:
        self.connection = connection
        self._do = connection.execute
        self._max_articles = max_articles

    def meet(self, url: str, signature: Signature) -> str | None:
        known = self._do("SELECT original FROM articles WHERE url = ?", (url,)).fetchone()
        if known is not None:
            self._note_met(url)
            return known[0] or None
        original = self._find_original(url, signature)
        self._do(
            "INSERT INTO articles (url, signature, original, met) VALUES (?, ?, ?, 0)",
            (url, signature.pack(), original or ""),
        )
        self._do("UPDATE size SET number = number + 1")
        self._note_met(url)
        if original:
            self._note_met(original)
        self._forget_least_recent()
        return original

    def _find_original(self, url: str, signature: Signature) -> str | None:
        """Of several, the most similar one counts."""
        best, least_distance = None, BITS + 1
        for other_url, packed, other_original in self._similar(signature):
            other = unpack_signature(packed)
            original = other_original or other_url
            differing = distance(signature, other)
            is_close = bool(other_original)  # what it has to be
            if (
                original != url
                and differing < least_distance
                and is_duplicate(signature, other, close=is_close)
            ):
                best, least_distance = original, differing
        return best

    def _similar(self, signature: Signature) -> list[tuple[str, bytes, str]]:
        """The articles that have a mark in common with this one, each once."""
        found: dict[int, tuple[str, bytes, str]] = {}
        for mark in signature.marks:
            rows = self._do(
                "SELECT id, url, signature, original FROM marks JOIN articles ON id = article "
                "WHERE mark = ? ORDER BY marks.met",
                (mark,),
            )
            for number, *article in rows:
                found.setdefault(number, tuple(article))
        return list(found.values())

    def _note_met(self, url: str) -> None:
        """Nothing happens if the article was forgotten."""
        row = self._do("SELECT id, signature FROM articles WHERE url = ?", (url,)).fetchone()
        if row is None:
            return
        number, packed = row
        (last,) = self._do("SELECT max(met) FROM articles").fetchone()
        self._do("UPDATE articles SET met = ? WHERE id = ?", (last + 1, number))
        for mark in unpack_signature(packed).marks:
            self._do("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", (mark, number, last + 1))
            self._do(
                "DELETE FROM marks WHERE mark = ?1 AND article IN (SELECT article FROM marks "
                "WHERE mark = ?1 ORDER BY met DESC LIMIT -1 OFFSET ?2)",
                (mark, MAX_PER_MARK),
            )

    def _forget_least_recent(self) -> None:
        (size,) = self._do("SELECT number FROM size").fetchone()
        rows = self._do(
            "SELECT id, signature FROM articles ORDER BY met LIMIT ?",
            (max(0, size - self._max_articles),),
        ).fetchall()
        for number, packed in rows:
            self.connection.executemany(
                "DELETE FROM marks WHERE mark = ? AND article = ?",
                [(mark, number) for mark in unpack_signature(packed).marks],
            )
            self._do("DELETE FROM articles WHERE id = ?", (number,))
            self._do("UPDATE size SET number = number - 1")

    def forget_all(self) -> None:
        self._do("DELETE FROM articles")
        self._do("DELETE FROM marks")
        self._do("UPDATE size SET number = 0")

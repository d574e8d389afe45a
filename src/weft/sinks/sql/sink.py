"""The sink: makes the table, changes it where items need that, and stores them in batches.

A batch is one transaction. If the database refuses it, it is tried by halves, until the rows are
found that it can never take.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from weft.errors import StoreError
from weft.sinks.base import KeyedItem, Refusal, SinkConfig
from weft.sinks.reading import Query, StoredItem
from weft.sinks.sql.database import Database, Trouble
from weft.sinks.sql.kinds import MAX_EXACT_IN_FLOAT, Kind
from weft.sinks.sql.layout import BOOKKEEPING, OURS, Changes, Column, Layout
from weft.sinks.sql.reader import read_items
from weft.sinks.sql.rows import Batch
from weft.sinks.sql.session import Session, TroubleError, store_error
from weft.sinks.sql.table import Table, check_ours

Result = TypeVar("Result")

#: How often a batch is tried again when others are in the way, or the table was changed by others.
MAX_ATTEMPTS = 10
#: The pause before is random, so that two workers do not meet again.
MAX_PAUSE_S = 0.05


class SqlSink:
    """A `Sink` in one table. Others may read it, or write to it, meanwhile."""

    def __init__(self, database: Database, config: SinkConfig) -> None:
        self.place = database.address.shown
        self._database = database
        self._config = config
        self._session = Session(database)
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._table: Table | None = None
        self._opened_identity: object = None

    async def open(self) -> None:
        await self._in_turn(self._open())

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        return await self._in_turn(self._store(items))

    async def clear(self) -> None:
        await self._in_turn(self._clear())

    async def close(self) -> None:
        await self._in_turn(self._close())

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        return read_items(self._database, query)

    async def _in_turn(self, work: Coroutine[Any, Any, Result]) -> Result:
        """One call after the other. One that has begun goes on if nobody waits for it any more:
        nobody knows what a connection does that is left in the middle of a statement."""
        task = asyncio.create_task(self._locked(work))
        self._under_way.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def _locked(self, work: Coroutine[Any, Any, Result]) -> Result:
        async with self._turn:
            return await work

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it; if nobody did, asyncio must not complain

    # Opening.

    async def _open(self) -> None:
        await self._close()
        try:
            self._database.prepare_place()
            await self._insisting(self._make_table, "CREATE")
            await self._insisting(self._try_rights, "SELECT, INSERT, UPDATE")
            if not self._config.is_strict:
                await self._insisting(self._try_alter, "ALTER")
            self._table = await self._insisting(self._look, "SELECT")
            self._opened_identity = self._database.identity()
        except BaseException:
            await self._close()
            raise

    async def _make_table(self) -> None:
        async with self._session.transaction() as connection:
            columns = await self._database.columns(connection)
        if columns:
            check_ours(self._database, columns)
            return
        try:
            async with self._session.transaction() as connection:
                for statement in self._database.create_statements():
                    await connection.exec_driver_sql(statement)
        except TroubleError:
            # Another worker may have been quicker.
            async with self._session.transaction() as connection:
                if not await self._database.columns(connection):
                    raise

    async def _try_rights(self) -> None:
        """An insert that is taken back."""
        upsert = self._database.upsert(BOOKKEEPING, ())
        probe = f"probe {random.SystemRandom().getrandbits(64)}"
        try:
            async with self._session.transaction() as connection:
                row = (probe, self._config.job, "", None, None)
                await self._database.insert(connection, upsert, [row])
                await connection.rollback()
        except TroubleError as problem:
            # The user's table may ask for more than a probe has.
            if problem.trouble is not Trouble.REFUSED:
                raise

    async def _try_alter(self) -> None:
        async with self._session.transaction() as connection:
            await self._database.check_alter(connection)

    async def _look(self) -> Table:
        async with self._session.transaction() as connection:
            return self._table_of(await self._database.columns(connection))

    def _table_of(self, columns: Mapping[str, Column], before: Layout | None = None) -> Table:
        layout = Layout(
            {name: column for name, column in columns.items() if name not in OURS},
            self._database.names,
            self._database.room,
            before.homeless if before else frozenset(),
            before.fixed if before else frozenset(),
        )
        return Table(self._database, layout, self._config)

    # Storing.

    async def _store(self, items: Sequence[KeyedItem]) -> list[Refusal]:
        self._check_open()
        # The last of two with the same key, in the place of the first.
        newest = list({item.key: item for item in items}.values())
        return await self._store_items(newest) if newest else []

    def _check_open(self) -> Table:
        if self._table is None:
            raise StoreError(f"{self.place} is not open")
        if self._database.identity() != self._opened_identity:
            raise StoreError(f"{self.place} was moved or deleted; run the same command again")
        return self._table

    async def _store_items(self, items: Sequence[KeyedItem]) -> list[Refusal]:
        try:
            return await self._insisting(lambda: self._try_items(items), "INSERT, UPDATE")
        except _RefusedError as problem:
            if len(items) == 1:
                return [Refusal(items[0], problem.reason)]
        half = len(items) // 2
        return [
            *await self._store_items(items[:half]),
            *await self._store_items(items[half:]),
        ]

    async def _try_items(self, items: Sequence[KeyedItem]) -> list[Refusal]:
        batch = await self._fitting_batch(items)
        rows, refusals = self._without_too_large(batch)
        if rows:
            try:
                await self._insert(batch.columns, rows)
            except TroubleError as problem:
                if problem.trouble is not Trouble.REFUSED:
                    raise
                if len(items) == 1 and await self._has_changed():
                    raise TroubleError(Trouble.STALE, str(problem), problem.cause) from problem
                raise _RefusedError(str(problem)) from problem
        return refusals

    def _without_too_large(self, batch: Batch) -> tuple[list[tuple[object, ...]], list[Refusal]]:
        rows: list[tuple[object, ...]] = []
        refusals = list(batch.refusals)
        for item, values in batch.rows:
            reason = self._database.too_large(values)
            if reason:
                refusals.append(Refusal(item, reason))
            else:
                rows.append(values)
        return rows, refusals

    async def _insert(self, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> None:
        upsert = self._check_open().upsert(columns)
        async with self._session.transaction() as connection:
            await self._database.insert(connection, upsert, rows)

    async def _has_changed(self) -> bool:
        """Whether the table is not what we took it for; if so, we know it now."""
        before = self._check_open().layout
        async with self._session.transaction() as connection:
            columns = await self._database.columns(connection)
        check_ours(self._database, columns)
        table = self._table_of(columns, before)
        if table.layout.columns == before.columns:
            return False
        self._table = table
        return True

    async def _look_again(self) -> None:
        await self._session.drop()  # what the driver has prepared was for the old table
        await self._has_changed()

    # Changing the table.

    async def _fitting_batch(self, items: Sequence[KeyedItem]) -> Batch:
        """A batch that the table has a place for; the table is changed where it must."""
        for _ in range(MAX_ATTEMPTS):
            batch = self._check_open().encoder.batch(items)
            if not batch.wishes:
                return batch
            try:
                await self._change(items)
            except TroubleError as problem:
                if problem.trouble is Trouble.DENIED:
                    raise store_error(self._database, problem, "ALTER") from problem
                raise
        raise StoreError(f"{self.place} is changed all the time by others; stop them")

    async def _change(self, items: Sequence[KeyedItem]) -> None:
        """Grants what can be granted, and remembers what cannot."""
        async with self._session.transaction(answer_s=None) as connection:
            await self._database.lock_changes(connection)
            try:
                table = await self._changed(connection, items)
            finally:
                await self._database.unlock_changes(connection)
        self._table = table
        await self._session.drop()  # as above

    async def _changed(self, connection: AsyncConnection, items: Sequence[KeyedItem]) -> Table:
        before = self._check_open().layout
        # Another worker may have changed it.
        table = self._table_of(await self._database.columns(connection), before)
        wishes = table.encoder.batch(items).wishes
        columns = table.layout.columns
        widened = await self._exact(connection, wishes.widened, columns)
        granted = table.layout.grantable(wishes.added, widened)
        await self._alter(connection, granted, columns)
        after = self._table_of(await self._database.columns(connection), before)
        layout = after.layout.without_hope(wishes.added, widened)
        return Table(self._database, layout, self._config)

    async def _exact(
        self,
        connection: AsyncConnection,
        wished: Mapping[str, Kind],
        columns: Mapping[str, Column],
    ) -> dict[str, Kind]:
        """A column that holds whole numbers which a float cannot hold becomes text instead."""
        widened = dict(wished)
        for name, kind in widened.items():
            if kind is Kind.FLOAT and columns[name].kind is Kind.INT:
                column = self._database.quoted(name)
                found = await connection.exec_driver_sql(
                    f"SELECT 1 FROM {self._database.table} WHERE {column} < -{MAX_EXACT_IN_FLOAT} "
                    f"OR {column} > {MAX_EXACT_IN_FLOAT} LIMIT 1"
                )
                if found.first():
                    widened[name] = Kind.TEXT
        return widened

    async def _alter(
        self, connection: AsyncConnection, changes: Changes, columns: Mapping[str, Column]
    ) -> None:
        """All changes, or as many as the database takes."""
        if not changes:
            return
        try:
            async with self._database.savepoint(connection):
                for statement in self._database.change_statements(changes, columns):
                    await connection.exec_driver_sql(statement)
        except DBAPIError as problem:
            # Anything else lies in one of the changes: we know the table as it is, and have locked
            # it. Two names may be one to the database.
            if self._database.trouble(problem) in (Trouble.DOWN, Trouble.BUSY, Trouble.DENIED):
                raise
            for part in changes.halves():
                await self._alter(connection, part, columns)

    # The rest.

    async def _clear(self) -> None:
        self._check_open()
        await self._insisting(self._delete_job, "DELETE")

    async def _delete_job(self) -> None:
        statement = (
            f"DELETE FROM {self._database.table} WHERE _job = {self._database.placeholder(1)}"
        )
        async with self._session.transaction(answer_s=None) as connection:
            await connection.exec_driver_sql(statement, (self._config.job,))

    async def _close(self) -> None:
        self._table = None
        await self._session.close()

    async def _insisting(
        self, work: Callable[[], Coroutine[Any, Any, Result]], right: str
    ) -> Result:
        """Tries again as long as that may help. `right` is what we need for it."""
        has_reconnected = is_stale = False
        for attempt in range(MAX_ATTEMPTS):
            try:
                if is_stale and self._table is not None:
                    await self._look_again()
                return await work()
            except TroubleError as problem:
                is_down = problem.trouble is Trouble.DOWN
                is_stale = problem.trouble is Trouble.STALE
                may_help = is_stale or problem.trouble is Trouble.BUSY
                may_help |= is_down and not has_reconnected
                if not may_help or attempt == MAX_ATTEMPTS - 1:
                    raise store_error(self._database, problem, right) from problem
                has_reconnected |= is_down
            await asyncio.sleep(random.uniform(0, MAX_PAUSE_S))
        raise AssertionError("the last attempt returns or raises")


class _RefusedError(Exception):
    """The database never takes one of the rows."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

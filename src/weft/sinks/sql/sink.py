"""The sink: creates the table, changes it where items need that, and stores them in batches.

A batch is one transaction. If the database refuses it, the batch is split in half and retried,
until the rows are found that the database will never accept.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from weft.errors import StoreError
from weft.sinks.base import KeyedItem, Refusal, SinkConfig
from weft.sinks.readback import Query, StoredItem
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.client import SqlClient
from weft.sinks.sql.columns import BOOKKEEPING, OURS, Changes, Column, TableColumns
from weft.sinks.sql.kinds import MAX_EXACT_IN_FLOAT, ColumnKind
from weft.sinks.sql.problems import Trouble, TroubleError
from weft.sinks.sql.readback import read_items
from weft.sinks.sql.rows import RowBatch
from weft.sinks.sql.table import Table, check_ours

Result = TypeVar("Result")

#: How often a batch is retried when other clients interfere or have changed the table.
MAX_ATTEMPTS = 10
#: The pause before a retry is random, so that two workers do not collide again.
MAX_PAUSE_S = 0.05


class SqlSink:
    """A `Sink` in one table. Others may read it, or write to it, meanwhile."""

    def __init__(self, backend: SqlBackend, config: SinkConfig) -> None:
        self.place = backend.address.place
        self._backend = backend
        self._config = config
        self._client = SqlClient(backend)
        self._lock = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._table: Table | None = None
        self._opened_identity: object = None

    async def open(self) -> None:
        await self._one_by_one(self._open())

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        return await self._one_by_one(self._store(items))

    async def clear(self) -> None:
        await self._one_by_one(self._clear())

    async def close(self) -> None:
        await self._one_by_one(self._close())

    def read(self, query: Query) -> AsyncIterator[StoredItem]:
        return read_items(self._backend, query)

    async def _one_by_one(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run one call after the other. A call that has started goes on even if its caller is
        cancelled: a connection that is left in the middle of a statement is in an unknown state."""
        task = asyncio.create_task(self._locked(work))
        self._under_way.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def _locked(self, work: Coroutine[Any, Any, Result]) -> Result:
        async with self._lock:
            return await work

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # the caller has it; if the caller is gone, asyncio must not complain

    # Opening.

    async def _open(self) -> None:
        await self._close()
        try:
            self._backend.location.prepare()
            await self._insisting(self._make_table, "CREATE")
            await self._insisting(self._try_rights, "SELECT, INSERT, UPDATE")
            if not self._config.is_strict:
                await self._insisting(self._try_alter, "ALTER")
            self._table = await self._insisting(self._look, "SELECT")
            self._opened_identity = self._backend.location.identity()
        except BaseException:
            await self._close()
            raise

    async def _make_table(self) -> None:
        async with self._client.transaction() as connection:
            columns = await self._backend.access.columns(connection)
        if columns:
            check_ours(self._backend.address, columns)
            return
        try:
            async with self._client.transaction() as connection:
                for statement in self._backend.dialect.create_statements():
                    await connection.exec_driver_sql(statement)
        except TroubleError:
            # Another worker may have been faster.
            async with self._client.transaction() as connection:
                if not await self._backend.access.columns(connection):
                    raise

    async def _try_rights(self) -> None:
        """Insert a row and roll back."""
        upsert = self._backend.dialect.upsert(BOOKKEEPING, ())
        probe = f"probe {random.SystemRandom().getrandbits(64)}"
        try:
            async with self._client.transaction() as connection:
                row = (probe, self._config.job, "", None, None)
                await self._backend.access.insert(connection, upsert, [row])
                await connection.rollback()
        except TroubleError as problem:
            # The user's table may require more columns than the probe has.
            if problem.trouble is not Trouble.REFUSED:
                raise

    async def _try_alter(self) -> None:
        if check := self._backend.dialect.alter_check():
            async with self._client.transaction() as connection:
                await connection.exec_driver_sql(check)

    async def _look(self) -> Table:
        async with self._client.transaction() as connection:
            return self._table_of(await self._backend.access.columns(connection))

    def _table_of(self, columns: Mapping[str, Column], before: TableColumns | None = None) -> Table:
        fields = TableColumns(
            {name: column for name, column in columns.items() if name not in OURS},
            self._backend.dialect.names,
            self._backend.dialect.room,
            before.homeless if before else frozenset(),
            before.fixed if before else frozenset(),
        )
        return Table(self._backend.dialect, fields, self._config)

    # Storing.

    async def _store(self, items: Sequence[KeyedItem]) -> list[Refusal]:
        self._check_open()
        # Of two with the same key: the last, in the position of the first.
        newest = list({item.key: item for item in items}.values())
        return await self._store_items(newest) if newest else []

    def _check_open(self) -> Table:
        if self._table is None:
            raise StoreError(f"{self.place} is not open")
        if self._backend.location.identity() != self._opened_identity:
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

    def _without_too_large(self, batch: RowBatch) -> tuple[list[tuple[object, ...]], list[Refusal]]:
        rows: list[tuple[object, ...]] = []
        refusals = list(batch.refusals)
        too_large = self._backend.access.too_large
        for item, values in batch.rows:
            reason = too_large(values)
            if reason:
                refusals.append(Refusal(item, reason))
            else:
                rows.append(values)
        return rows, refusals

    async def _insert(self, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> None:
        upsert = self._check_open().upsert(columns)
        async with self._client.transaction() as connection:
            await self._backend.access.insert(connection, upsert, rows)

    async def _has_changed(self) -> bool:
        """Whether the table has changed; if so, use the new columns from now on."""
        before = self._check_open().columns
        async with self._client.transaction() as connection:
            columns = await self._backend.access.columns(connection)
        check_ours(self._backend.address, columns)
        table = self._table_of(columns, before)
        if table.columns.by_name == before.by_name:
            return False
        self._table = table
        return True

    async def _look_again(self) -> None:
        await self._client.drop()  # the driver's prepared statements were for the old table
        await self._has_changed()

    # Changing the table.

    async def _fitting_batch(self, items: Sequence[KeyedItem]) -> RowBatch:
        """Return a batch that fits the table; change the table if necessary."""
        for _ in range(MAX_ATTEMPTS):
            batch = self._check_open().encoder.batch(items)
            if not batch.wishes:
                return batch
            try:
                await self._change(items)
            except TroubleError as problem:
                if problem.trouble is Trouble.DENIED:
                    raise self._backend.problems.store_error(problem, "ALTER") from problem
                raise
        raise StoreError(f"{self.place} is constantly changed by other programs; stop them")

    async def _change(self, items: Sequence[KeyedItem]) -> None:
        """Make the changes that are possible, and remember those that are not."""
        async with (
            self._client.transaction(answer_s=None) as connection,
            self._backend.access.changing(connection),
        ):
            table = await self._changed(connection, items)
        self._table = table
        await self._client.drop()  # as above

    async def _changed(self, connection: AsyncConnection, items: Sequence[KeyedItem]) -> Table:
        before = self._check_open().columns
        # Another worker may have changed it.
        table = self._table_of(await self._backend.access.columns(connection), before)
        wishes = table.encoder.batch(items).wishes
        columns = table.columns.by_name
        widened = await self._exact(connection, wishes.widened, columns)
        granted = table.columns.grantable(wishes.added, widened)
        await self._alter(connection, granted, columns)
        after = self._table_of(await self._backend.access.columns(connection), before)
        fields = after.columns.without_hope(wishes.added, widened)
        return Table(self._backend.dialect, fields, self._config)

    async def _exact(
        self,
        connection: AsyncConnection,
        wished: Mapping[str, ColumnKind],
        columns: Mapping[str, Column],
    ) -> dict[str, ColumnKind]:
        """Widen an integer column to text instead if a float cannot hold its values."""
        widened = dict(wished)
        for name, kind in widened.items():
            if kind is ColumnKind.FLOAT and columns[name].kind is ColumnKind.INT:
                table, column = self._backend.dialect.table, self._backend.dialect.quoted(name)
                found = await connection.exec_driver_sql(
                    f"SELECT 1 FROM {table} WHERE {column} < -{MAX_EXACT_IN_FLOAT} "
                    f"OR {column} > {MAX_EXACT_IN_FLOAT} LIMIT 1"
                )
                if found.first():
                    widened[name] = ColumnKind.TEXT
        return widened

    async def _alter(
        self, connection: AsyncConnection, changes: Changes, columns: Mapping[str, Column]
    ) -> None:
        """Make all changes, or as many as the database accepts."""
        if not changes:
            return
        try:
            async with self._backend.access.savepoint(connection):
                for statement in self._backend.dialect.change_statements(changes, columns):
                    await connection.exec_driver_sql(statement)
        except DBAPIError as problem:
            # Any other error is caused by one of the changes: we know the table as it is, and have
            # locked it. Perhaps two names are the same to the database.
            if self._backend.problems.trouble(problem) in (
                Trouble.DOWN,
                Trouble.BUSY,
                Trouble.DENIED,
            ):
                raise
            for half in changes.halves():
                await self._alter(connection, half, columns)

    # The rest.

    async def _clear(self) -> None:
        self._check_open()
        await self._insisting(self._delete_job, "DELETE")

    async def _delete_job(self) -> None:
        dialect = self._backend.dialect
        statement = f"DELETE FROM {dialect.table} WHERE _job = {dialect.placeholder(1)}"
        async with self._client.transaction(answer_s=None) as connection:
            await connection.exec_driver_sql(statement, (self._config.job,))

    async def _close(self) -> None:
        self._table = None
        await self._client.close()

    async def _insisting(
        self, work: Callable[[], Coroutine[Any, Any, Result]], right: str
    ) -> Result:
        """Do `work`; retry as long as that may help. `right` is the right that it needs."""
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
                    raise self._backend.problems.store_error(problem, right) from problem
                has_reconnected |= is_down
            await asyncio.sleep(random.uniform(0, MAX_PAUSE_S))
        raise AssertionError("the last attempt returns or raises")


class _RefusedError(Exception):
    """The database will never accept one of the rows."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

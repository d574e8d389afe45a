"""A client of a database: connects when it has to, and again after the connection broke."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.problems import Trouble, TroubleError

#: A server that takes longer to answer is considered dead.
ANSWER_S = 120.0

#: What the drivers raise, with or without SQLAlchemy around it. A TimeoutError is an OSError.
PROBLEMS = (DBAPIError, OSError, EOFError)


class SqlClient:
    """Has at most one connection at a time. Failures are raised as `TroubleError`."""

    def __init__(self, backend: SqlBackend, *, is_writing: bool = True) -> None:
        self._backend = backend
        self._is_writing = is_writing
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None

    @asynccontextmanager
    async def transaction(
        self, answer_s: float | None = ANSWER_S
    ) -> AsyncIterator[AsyncConnection]:
        """Execute all statements inside or none. `answer_s`: None if it may take any time."""
        async with self._translated(), asyncio.timeout(answer_s):
            connection = await self._connected()
            if begin := self._backend.dialect.begin:
                await connection.exec_driver_sql(begin)
            yield connection
            await connection.commit()

    @asynccontextmanager
    async def read_only(self) -> AsyncIterator[AsyncConnection]:
        async with self._translated():
            connection = await self._connected()
            yield connection
            await connection.rollback()

    async def close(self) -> None:
        await self.drop()
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.dispose()

    async def drop(self) -> None:
        """Make the next transaction use a new connection without any state."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it is gone either way
                await connection.invalidate()
            with suppress(Exception):
                await connection.close()

    async def _connected(self) -> AsyncConnection:
        if self._connection is None:
            if self._engine is None:
                self._engine = create_async_engine(
                    self._backend.location.url,
                    poolclass=NullPool,
                    json_deserializer=str,  # we decode it
                    connect_args=self._backend.location.connect_options(),
                )
            self._connection = await self._engine.connect()
            if self._is_writing:
                await self._backend.access.prepare(self._connection)
                await self._connection.commit()
        return self._connection

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            yield
        except TroubleError:
            await self._roll_back()
            raise
        except PROBLEMS as problem:
            trouble = self._backend.problems.trouble(problem)
            text = self._backend.problems.text_of(problem)
            await (self.drop() if trouble is Trouble.DOWN else self._roll_back())
            raise TroubleError(trouble, text, problem) from problem
        except BaseException:
            await self.drop()
            raise

    async def _roll_back(self) -> None:
        if self._connection is not None:
            try:
                await self._connection.rollback()
            except Exception:  # the connection is unusable
                await self.drop()

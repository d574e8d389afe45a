"""A connection to a database that is made when it is needed, and again after it broke."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from weft.errors import SinkDownError, StoreError
from weft.sinks.sql.database import Database, Trouble

#: A server that takes longer to answer is taken for dead.
ANSWER_S = 120.0

#: What the drivers raise, SQLAlchemy around it or not.
PROBLEMS = (DBAPIError, OSError, EOFError)


class TroubleError(Exception):
    """An error of the database, and what is to be done about it. It does not leave the sink."""

    def __init__(self, trouble: Trouble, text: str, cause: BaseException) -> None:
        super().__init__(text)
        self.trouble = trouble
        self.cause = cause


class Session:
    """At most one connection at a time. What fails leaves as `TroubleError`."""

    def __init__(self, database: Database, *, is_writing: bool = True) -> None:
        self._database = database
        self._is_writing = is_writing
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None

    @asynccontextmanager
    async def transaction(
        self, answer_s: float | None = ANSWER_S
    ) -> AsyncIterator[AsyncConnection]:
        """All or nothing of what is executed inside. `answer_s`: None if it may take any time."""
        async with self._translated(), asyncio.timeout(answer_s):
            connection = await self._connected()
            await self._database.begin(connection)
            yield connection
            await connection.commit()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
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
        """The next transaction has a new connection, which remembers nothing."""
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
                    self._database.url,
                    poolclass=NullPool,
                    json_deserializer=str,  # we decode it
                    connect_args=self._database.connect_options(),
                )
            self._connection = await self._engine.connect()
            if self._is_writing:
                await self._database.prepare(self._connection)
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
            trouble = self._trouble(problem)
            text = self._database.text_of(problem)
            await (self.drop() if trouble is Trouble.DOWN else self._roll_back())
            raise TroubleError(trouble, text, problem) from problem
        except BaseException:
            await self.drop()
            raise

    def _trouble(self, problem: BaseException) -> Trouble:
        # Anything else is an error of the network, or of time: a TimeoutError is an OSError.
        if isinstance(problem, DBAPIError):
            return self._database.trouble(problem)
        return Trouble.DOWN

    async def _roll_back(self) -> None:
        if self._connection is not None:
            try:
                await self._connection.rollback()
            except Exception:  # the connection is of no use then
                await self.drop()


def store_error(database: Database, problem: TroubleError, right: str) -> StoreError:
    """The error that users meet, when `right` was what we needed."""
    if problem.trouble is Trouble.DOWN:
        hint = "; check ?ssl= in its address" if "SSL" in str(problem) else ""
        return SinkDownError(
            f"{database.title} at {database.address.server} cannot be reached: {problem}{hint}"
        )
    if problem.trouble is Trouble.BUSY:
        return SinkDownError(f"{database.address.shown} is busy: {problem}")
    if problem.trouble is Trouble.DENIED:
        user = database.address.user or "us"
        return StoreError(
            f"{database.title} at {database.address.server} does not let {user} use "
            f"{database.address.shown}: {problem}; {database.cure(problem.cause, right)}"
        )
    return database.error(problem.cause) or StoreError(
        f"{database.address.shown} cannot be used: {problem}; put that right, or choose another "
        "output with -o"
    )

"""What is done with a table through a connection."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from weft.sinks.sql.columns import Column
from weft.sinks.sql.dialect import SqlDialect, Upsert


class TableAccess(ABC):
    """It holds no connection: every call is given one."""

    def __init__(self, dialect: SqlDialect) -> None:
        self.dialect = dialect

    @abstractmethod
    async def prepare(self, connection: AsyncConnection) -> None:
        """Called first on every new connection that will write."""

    @abstractmethod
    async def columns(self, connection: AsyncConnection) -> Mapping[str, Column]:
        """All columns of the table, including ours; none if there is no table."""

    @asynccontextmanager
    async def changing(self, connection: AsyncConnection) -> AsyncIterator[None]:
        """Let no other worker change the table meanwhile, or until the transaction ends."""
        yield

    def savepoint(self, connection: AsyncConnection) -> AbstractAsyncContextManager[object]:
        """Undo the changes inside if one of them fails."""
        return connection.begin_nested()

    async def insert(
        self, connection: AsyncConnection, upsert: Upsert, rows: Sequence[tuple[object, ...]]
    ) -> None:
        await connection.exec_driver_sql(upsert.of_rows(1), list(rows))

    def too_large(self, row: tuple[object, ...]) -> str:
        """Why a row can never be sent; empty if it can."""
        return ""

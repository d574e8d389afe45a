"""Reading items back, in the order in which they came, some at a time."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from weft.errors import StoreMissingError
from weft.sinks.reading import Query, StoredItem
from weft.sinks.sql.database import Database, Trouble
from weft.sinks.sql.kinds import Kind
from weft.sinks.sql.layout import KEY, OURS
from weft.sinks.sql.session import Session, TroubleError, store_error
from weft.sinks.sql.values import instant, instant_ms, read_back

#: Rows by one statement. They are in memory at once, and some have megabytes.
PAGE_ROWS = 100
_HEAD = ("_id", KEY, "_job", "_page", "_fetched_at", "_more")


async def read_items(database: Database, query: Query) -> AsyncIterator[StoredItem]:
    """With a connection of its own, which is closed at the end."""
    session = Session(database, is_writing=False)
    last = -1
    try:
        kinds = await _kinds(database, session)
        while True:
            try:
                rows = await _page(database, session, query, tuple(kinds), last)
            except TroubleError as problem:
                if problem.trouble is not Trouble.STALE:
                    raise
                await session.drop()  # a worker has changed the table
                kinds = await _kinds(database, session)
                rows = await _page(database, session, query, tuple(kinds), last)
            for row in rows:
                yield _item(database, row, kinds)
            if len(rows) < PAGE_ROWS:
                return
            last = rows[-1][0]
    except TroubleError as problem:
        raise store_error(database, problem, "SELECT") from problem
    finally:
        await session.close()


async def _kinds(database: Database, session: Session) -> dict[str, Kind]:
    if not database.is_there():
        raise StoreMissingError(f"there is no {database.address.shown}: nothing was stored yet")
    async with session.reading() as connection:
        columns = await database.columns(connection)
    if KEY not in columns:
        raise StoreMissingError(f"there is no table of Weft at {database.address.shown}")
    return {name: column.kind for name, column in columns.items() if name not in OURS}


async def _page(
    database: Database, session: Session, query: Query, fields: tuple[str, ...], last: int
) -> list[tuple[Any, ...]]:
    """Those after the row with the id `last`."""
    names = ", ".join(map(database.quoted, (*_HEAD, *fields)))
    conditions, values = ["_id >"], [last]
    for condition, value in _conditions(database, query):
        conditions.append(condition)
        values.append(value)
    tests = " AND ".join(
        f"{condition} {database.placeholder(number)}"
        for number, condition in enumerate(conditions, 1)
    )
    statement = f"SELECT {names} FROM {database.table} WHERE {tests} ORDER BY _id LIMIT {PAGE_ROWS}"
    async with session.reading() as connection:
        found = await connection.exec_driver_sql(statement, tuple(values))
        return [tuple(row) for row in found.all()]


def _conditions(database: Database, query: Query) -> Iterator[tuple[str, Any]]:
    if query.job:
        yield "_job =", query.job
    if query.since_ms:
        yield "_fetched_at >=", instant(query.since_ms, database.forms)


def _item(database: Database, row: tuple[Any, ...], kinds: Mapping[str, Kind]) -> StoredItem:
    _, key, job, page, fetched_at, more = row[: len(_HEAD)]
    fields = {
        name: read_back(kind, value, database.forms)
        for (name, kind), value in zip(kinds.items(), row[len(_HEAD) :], strict=True)
        if value is not None
    }
    if more is not None:
        fields |= msgspec.json.decode(more)
    return StoredItem(key.strip(), job, page, instant_ms(fetched_at, database.forms), fields)

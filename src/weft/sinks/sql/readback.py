"""Reads items back in the order in which they arrived, some at a time."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from weft.errors import StoreMissingError
from weft.sinks.readback import Query, StoredItem
from weft.sinks.sql.backend import SqlBackend
from weft.sinks.sql.client import SqlClient
from weft.sinks.sql.columns import KEY, OURS
from weft.sinks.sql.kinds import ColumnKind
from weft.sinks.sql.problems import Trouble, TroubleError
from weft.sinks.sql.values import instant, instant_ms, read_back

#: Rows per statement. They are all in memory at once, and a row may have megabytes.
PAGE_ROWS = 100
_HEAD = ("_id", KEY, "_job", "_page", "_fetched_at", "_more")


async def read_items(backend: SqlBackend, query: Query) -> AsyncIterator[StoredItem]:
    """Read through a connection of its own, which is closed at the end."""
    client = SqlClient(backend, is_writing=False)
    last = -1
    try:
        kinds = await _kinds(backend, client)
        while True:
            try:
                rows = await _page(backend, client, query, tuple(kinds), last)
            except TroubleError as problem:
                if problem.trouble is not Trouble.STALE:
                    raise
                await client.drop()  # a worker has changed the table
                kinds = await _kinds(backend, client)
                rows = await _page(backend, client, query, tuple(kinds), last)
            for row in rows:
                yield _item(backend, row, kinds)
            if len(rows) < PAGE_ROWS:
                return
            last = rows[-1][0]
    except TroubleError as problem:
        raise backend.problems.store_error(problem, "SELECT") from problem
    finally:
        await client.close()


async def _kinds(backend: SqlBackend, client: SqlClient) -> dict[str, ColumnKind]:
    if not backend.location.is_there():
        raise StoreMissingError(f"there is no {backend.address.place}: nothing has been stored yet")
    async with client.read_only() as connection:
        columns = await backend.access.columns(connection)
    if KEY not in columns:
        raise StoreMissingError(f"there is no table of Weft at {backend.address.place}")
    return {name: column.kind for name, column in columns.items() if name not in OURS}


async def _page(
    backend: SqlBackend, client: SqlClient, query: Query, fields: tuple[str, ...], last: int
) -> list[tuple[Any, ...]]:
    """Return the rows after the one with the id `last`."""
    names = ", ".join(map(backend.dialect.quoted, (*_HEAD, *fields)))
    conditions, values = ["_id >"], [last]
    for condition, value in _conditions(backend, query):
        conditions.append(condition)
        values.append(value)
    tests = " AND ".join(
        f"{condition} {backend.dialect.placeholder(number)}"
        for number, condition in enumerate(conditions, 1)
    )
    statement = (
        f"SELECT {names} FROM {backend.dialect.table} WHERE {tests} ORDER BY _id LIMIT {PAGE_ROWS}"
    )
    async with client.read_only() as connection:
        found = await connection.exec_driver_sql(statement, tuple(values))
        return [tuple(row) for row in found.all()]


def _conditions(backend: SqlBackend, query: Query) -> Iterator[tuple[str, Any]]:
    if query.job:
        yield "_job =", query.job
    if query.since_ms:
        yield "_fetched_at >=", instant(query.since_ms, backend.dialect.forms)


def _item(backend: SqlBackend, row: tuple[Any, ...], kinds: Mapping[str, ColumnKind]) -> StoredItem:
    _, key, job, page, fetched_at, more = row[: len(_HEAD)]
    fields = {
        name: read_back(kind, value, backend.dialect.forms)
        for (name, kind), value in zip(kinds.items(), row[len(_HEAD) :], strict=True)
        if value is not None
    }
    if more is not None:
        fields |= msgspec.json.decode(more)
    return StoredItem(key.strip(), job, page, instant_ms(fetched_at, backend.dialect.forms), fields)

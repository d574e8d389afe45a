"""The contract of `Sink` on real relational databases, and what is particular to tables."""

import asyncio
import math
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path

import pytest

from launchers.mariadb import MariaDbServer
from launchers.postgresql import PostgreSqlServer
from launchers.sqlserver import SqlServer
from servers import started
from weft.errors import SinkDownError, StoreError, StoreMissingError
from weft.sinks import KeyedItem, Refusal, SinkConfig, make_sink
from weft.sinks.readback import Query, StoredItem
from weft.sinks.sql import SqlSink
from weft.sinks.sql.problems import Trouble, TroubleError
from weft.testing.sink_contract import SinkContract, numbered, numbered_items

DATABASE = "weft"
JOB = "job"


@contextmanager
def with_database(make: Callable[[], SqlServer]) -> Iterator[SqlServer]:
    with started(make) as server:
        server.ask(f"CREATE DATABASE {DATABASE}")
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[SqlServer]:
    with with_database(MariaDbServer) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[SqlServer]:
    with with_database(PostgreSqlServer) as server:
        yield server


def table_of(directory: Path) -> str:
    return f"items_{blake2b(os.fsencode(directory), digest_size=8).hexdigest()}"


def sink_at(address: str, job: str = JOB, *, is_strict: bool = False) -> SqlSink:
    sink = make_sink(address, SinkConfig(Path("unused"), job, is_strict=is_strict))
    assert isinstance(sink, SqlSink)
    return sink


async def read_all(sink: SqlSink, query: Query | None = None) -> list[StoredItem]:
    return [item async for item in sink.read(query or Query())]


class TableContract(SinkContract):
    KEEPS_NEWER = True

    def address(self, directory: Path) -> str:
        raise NotImplementedError

    def make_sink(self, directory: Path) -> SqlSink:
        return sink_at(self.address(directory))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        return [item.fields for item in await read_all(self.make_sink(directory))]


class ServerContract(TableContract):
    server: SqlServer

    def address(self, directory: Path) -> str:
        return self.server.address(DATABASE, table_of(directory))


class TestMariaDbSink(ServerContract):
    @pytest.fixture(autouse=True)
    def _connect(self, mariadb: SqlServer) -> None:
        self.server = mariadb


class TestPostgreSqlSink(ServerContract):
    INSTEAD_OF_NUL = "\ufffd"

    @pytest.fixture(autouse=True)
    def _connect(self, postgresql: SqlServer) -> None:
        self.server = postgresql


class TestSqliteTableSink(TableContract):
    def address(self, directory: Path) -> str:
        return f"sqlite://{directory}/shop.db/items"


# What is particular to tables.


class Place:
    """An empty table in one of the databases, and another way to look at it."""

    def __init__(self, address: str, ask: Callable[[str], list[list[str]]]) -> None:
        self.address = address
        self.ask = ask
        self.kind, _, rest = address.partition("://")
        self.table = rest.rpartition("/")[2]

    def quoted(self, name: str) -> str:
        return f"`{name}`" if self.kind == "mariadb" else f'"{name}"'

    @asynccontextmanager
    async def opened(self, job: str = JOB, *, is_strict: bool = False) -> AsyncIterator[SqlSink]:
        sink = sink_at(self.address, job, is_strict=is_strict)
        await sink.open()
        try:
            yield sink
        finally:
            await sink.close()

    async def store(
        self, items: Sequence[KeyedItem], job: str = JOB, *, is_strict: bool = False
    ) -> Sequence[Refusal]:
        async with self.opened(job, is_strict=is_strict) as sink:
            return await sink.store(items)

    async def read(self, query: Query | None = None) -> list[StoredItem]:
        return await read_all(sink_at(self.address), query)

    async def numbers(self, query: Query | None = None) -> list[object]:
        return [item.fields["number"] for item in await self.read(query)]

    def types(self) -> dict[str, str]:
        if self.kind == "sqlite":
            return {
                name: kind for _, name, kind, *_ in self.ask(f"PRAGMA table_info({self.table})")
            }
        column = "column_type" if self.kind == "mariadb" else "data_type"
        rows = self.ask(
            f"SELECT column_name, {column} FROM information_schema.columns "
            f"WHERE table_name = '{self.table}'"
        )
        return {row[0]: row[1] for row in rows}


def sqlite_asker(path: Path) -> Callable[[str], list[list[str]]]:
    def ask(statement: str) -> list[list[str]]:
        with closing(sqlite3.connect(path)) as database, database:
            return [[str(value) for value in row] for row in database.execute(statement)]

    return ask


@pytest.fixture(params=["mariadb", "postgresql", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(f"sqlite://{tmp_path}/shop.db/items", sqlite_asker(tmp_path / "shop.db"))
    return server_place(request.getfixturevalue(request.param), tmp_path)


def server_place(server: SqlServer, directory: Path) -> Place:
    address = server.address(DATABASE, table_of(directory))
    return Place(address, lambda statement: server.ask(statement, DATABASE))


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request: pytest.FixtureRequest) -> SqlServer:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, SqlServer)
    return found


async def test_columns_have_the_types_of_the_values(place: Place) -> None:
    await place.store(
        [
            numbered(
                1,
                yes=True,
                price=1.5,
                name="x",
                exact=Decimal("1.50"),
                at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=2))),
                day=date(2026, 1, 2),
                raw=b"\x00\xff",
                tags=["a"],
            )
        ]
    )
    types = place.types()
    assert [types[name] for name in ("_id", "_key", "_job", "_page", "_fetched_at", "_more")] == {
        "mariadb": [
            "bigint(20)",
            "char(32)",
            "varchar(255)",
            "longtext",
            "datetime(3)",
            "longtext",
        ],
        "postgresql": [
            *("bigint", "character", "text", "text", "timestamp with time zone", "jsonb"),
        ],
        "sqlite": ["INTEGER", "CHAR(32)", "TEXT", "TEXT", "TIMESTAMP TEXT", "JSON TEXT"],
    }[place.kind]
    fields = ("number", "yes", "price", "name", "exact", "at", "day", "raw", "tags")
    assert [types[name] for name in fields] == {
        "mariadb": [
            *("bigint(20)", "tinyint(1)", "double", "longtext", "decimal(38,10)"),
            *("datetime(6)", "date", "longblob", "longtext"),
        ],
        "postgresql": [
            *("bigint", "boolean", "double precision", "text", "numeric"),
            *("timestamp with time zone", "date", "bytea", "jsonb"),
        ],
        "sqlite": [
            *("BIGINT", "BOOLEAN", "DOUBLE", "TEXT", "TEXT"),
            *("TIMESTAMP TEXT", "DATE TEXT", "BLOB", "JSON TEXT"),
        ],
    }[place.kind]
    (item,) = await place.read()
    assert item.fields == {
        "number": 1,
        "yes": True,
        "price": 1.5,
        "name": "x",
        "exact": "1.50" if place.kind == "sqlite" else Decimal("1.5"),
        "at": datetime(2026, 1, 2, 1, 4, 5, 678, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "raw": b"\x00\xff",
        "tags": ["a"],
    }
    assert item.fields["yes"] is True


async def test_key_job_page_and_time_are_kept(place: Place) -> None:
    await place.store(
        [KeyedItem(b"k" * 16, {"a": 1}, "https://shop/1", 1_767_323_045_678)], "first job"
    )
    await place.store([KeyedItem(b"l" * 16, {"a": 2})], "second job")
    assert await place.read() == [
        StoredItem((b"k" * 16).hex(), "first job", "https://shop/1", 1_767_323_045_678, {"a": 1}),
        StoredItem((b"l" * 16).hex(), "second job", "", 0, {"a": 2}),
    ]
    assert place.ask(f"SELECT _key FROM {place.table} ORDER BY _id")[0] == [(b"k" * 16).hex()]


async def test_items_are_read_by_job_and_time(place: Place) -> None:
    for number, job, at_ms in ((1, "a", 1000), (2, "b", 2000), (3, "a", 3000), (4, "a", 0)):
        key = number.to_bytes(16, "big")
        await place.store([KeyedItem(key, {"number": number}, fetched_at_ms=at_ms)], job)
    assert await place.numbers(Query(job="a")) == [1, 3, 4]
    assert await place.numbers(Query(since_ms=2000)) == [2, 3]
    assert await place.numbers(Query("a", 2001)) == [3]
    assert await place.numbers(Query(job="A")) == []


async def test_more_items_than_are_read_at_once(place: Place) -> None:
    await place.store(numbered_items(range(250)))
    assert await place.numbers() == list(range(250))


async def test_table_may_be_changed_while_it_is_read(place: Place) -> None:
    async with place.opened() as sink:
        await sink.store([numbered(n, v=n) for n in range(150)])
        items = sink.read(Query())
        first = await anext(items)
        await sink.store([numbered(n, v="text", new=1) for n in range(150, 160)])
        read = [first, *[item async for item in items]]
    assert [item.fields["number"] for item in read] == list(range(160))
    assert read[-1].fields["v"] == "text"


async def test_reading_what_is_not_there_says_so(place: Place) -> None:
    with pytest.raises(StoreMissingError, match="there is no"):
        await place.read()


async def test_clear_keeps_items_of_other_jobs(place: Place) -> None:
    await place.store(numbered_items([1, 2]), "other")
    async with place.opened("mine") as sink:
        await sink.store(numbered_items([3, 4]))
        await sink.clear()
    assert await place.numbers() == [1, 2]


async def test_newer_item_wins_completely(place: Place) -> None:
    await place.store([numbered(1, old="x", both=1, **{"é" * 90: "more"}), numbered(2, old="y")])
    await place.store([numbered(1, both=2, new="z")])
    read = [item.fields for item in await place.read()]
    assert read == [{"number": 1, "both": 2, "new": "z"}, {"number": 2, "old": "y"}]


async def test_declared_fields_have_columns_before_they_have_values(place: Place) -> None:
    declared = {
        "title": str,
        "price": float,
        "stock": int,
        "tags": list,
        "any": None,
        "cost": Decimal,
    }
    await place.store([KeyedItem(b"k" * 16, {"title": None, "stock": None}, declared=declared)])
    assert {"title", "price", "stock", "tags", "cost"} <= place.types().keys()
    assert "any" not in place.types()
    await place.store([KeyedItem(b"k" * 16, {"price": 5, "any": "x"}, declared=declared)])
    assert [item.fields for item in await place.read()] == [{"price": 5.0, "any": "x"}]


async def test_column_becomes_wider_and_keeps_what_it_had(place: Place) -> None:
    await place.store([numbered(1, a=True, b=7, c=2**60, d=1.5, e=date(2026, 1, 2), f=3)])
    await place.store([numbered(2, a=5, b=1.5, c=1.5, d="x", e="soon", f=Decimal("0.1"))])
    first, second = (item.fields for item in await place.read())
    sqlite_has_no_decimals = place.kind == "sqlite"
    assert first["a"] == 1
    assert (first["b"], first["c"], first["d"], first["e"]) == (
        7.0,
        str(2**60),
        "1.5",
        "2026-01-02",
    )
    assert first["f"] == ("3" if sqlite_has_no_decimals else 3)
    assert (second["a"], second["b"], second["c"], second["d"]) == (5, 1.5, "1.5", "x")
    assert second["f"] == ("0.1" if sqlite_has_no_decimals else Decimal("0.1"))


async def test_value_that_no_column_takes_is_kept_beside(place: Place) -> None:
    deep: object = "bottom"
    for _ in range(60):
        deep = [deep]
    await place.store([numbered(1, raw=b"x", nested=["y"])])
    await place.store([numbered(2, raw="text", nested=deep)])
    assert (await place.read())[1].fields == {"number": 2, "raw": "text", "nested": deep}


async def test_three_hundred_long_texts_are_kept(place: Place) -> None:
    for size in (39, 3000):
        fields = {f"text_{number}": "x" * size for number in range(300)}
        assert await place.store([numbered(size, **fields)]) == []
        assert (await place.read())[-1].fields == {"number": size, **fields}
    assert len(place.types()) > 150


async def test_more_fields_than_any_table_has_columns_are_kept(place: Place) -> None:
    fields = {f"field_{number}": number for number in range(2500)}
    await place.store([numbered(1, **fields)])
    await place.store([numbered(1, **fields)])
    (item,) = await place.read()
    assert item.fields == {"number": 1, **fields}


async def test_odd_names_have_columns_of_their_own(place: Place) -> None:
    fields = dict.fromkeys(("select", "a b", "%s", "100%", ":x", "$1", "?", "Größe", "`a`"), "x")
    await place.store([numbered(1, **fields)])
    assert fields.keys() <= place.types().keys()
    assert (await place.read())[0].fields == {"number": 1, **fields}


async def test_names_that_the_database_takes_for_ours_are_kept(place: Place) -> None:
    fields = {"_id": 7, "_key": "x", "_MORE": [1], "_job": "y", "id": 8, "ID": 9, "": "empty"}
    await place.store([numbered(1, **fields)])
    assert (await place.read())[0].fields == {"number": 1, **fields}


async def test_nan_is_nothing(place: Place) -> None:
    await place.store(
        [numbered(1, price=math.nan), numbered(2, price=1.5), numbered(3, price=-math.inf)]
    )
    assert [item.fields.get("price") for item in await place.read()] == [None, 1.5, None]


# Strict tables.


async def test_strict_table_is_made_from_the_first_items(place: Place) -> None:
    assert await place.store([numbered(1, name="x")], is_strict=True) == []
    types = place.types()
    refusals = await place.store(
        [numbered(2), numbered(3, color="red"), numbered(4)], is_strict=True
    )
    assert [refusal.item.fields["number"] for refusal in refusals] == [3]
    assert "'color'" in refusals[0].reason
    assert "--schema strict" in refusals[0].reason
    assert await place.numbers() == [1, 2, 4]
    assert place.types() == types


async def test_strict_table_refuses_other_types(place: Place) -> None:
    await place.store([numbered(1, price=1)])
    (refusal,) = await place.store(
        [numbered(2, price="cheap"), numbered(3, price=2)], is_strict=True
    )
    assert "'price' is int, its value is text" in refusal.reason
    assert await place.numbers() == [1, 3]


# Several workers.


async def test_workers_that_add_columns_at_the_same_time(place: Place) -> None:
    def item(turn: int, worker: int) -> KeyedItem:
        return numbered(10 * turn + worker, shared=turn, **{f"f{turn}{worker}": worker})

    async with place.opened() as one, place.opened() as two, place.opened() as three:
        workers = (one, two, three)
        for turn in range(4):
            await asyncio.gather(
                *(sink.store([item(turn, number)]) for number, sink in enumerate(workers))
            )
    read = {item.fields["number"]: item.fields for item in await place.read()}
    expected = [item(turn, worker).fields for turn in range(4) for worker in range(3)]
    assert read == {fields["number"]: fields for fields in expected}


async def test_workers_that_need_different_types_at_the_same_time(place: Place) -> None:
    values: list[object] = [1, 2.5, "007", ["x"]]

    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(place.opened()) for _ in values]
        await asyncio.gather(
            *(
                sink.store([numbered(n, v=value)])
                for n, (sink, value) in enumerate(zip(workers, values, strict=True))
            )
        )
    read = {item.fields["number"]: item.fields["v"] for item in await place.read()}
    assert str(read[0]).removesuffix(".0") == "1"
    assert str(read[1]) == "2.5"
    assert read[2] == "007"
    assert read[3] in (["x"], '["x"]')


async def test_workers_that_store_the_same_items_at_the_same_time(place: Place) -> None:
    numbers = list(range(60))

    async with place.opened() as one, place.opened() as two:
        for _ in range(5):
            await asyncio.gather(
                one.store(numbered_items(numbers)), two.store(numbered_items(numbers[::-1]))
            )
    assert sorted(await place.numbers(), key=str) == sorted(numbers, key=str)


# Refusals.


async def test_items_that_a_constraint_refuses_cost_nobody_else(place: Place) -> None:
    await place.store([numbered(0, code="first")])
    if place.kind == "mariadb":
        place.ask(f"ALTER TABLE {place.table} MODIFY code VARCHAR(20), ADD UNIQUE (code)")
    else:
        place.ask(f"CREATE UNIQUE INDEX {place.table}_code ON {place.table} (code)")
    bad = {3: "first", 7: "first"}
    items = [numbered(n, code=bad.get(n, str(n))) for n in range(1, 11)]
    refusals = await place.store(items)
    assert [refusal.item.fields["number"] for refusal in refusals] == [3, 7]
    assert "unique" in refusals[0].reason.lower()
    assert await place.numbers() == [0, 1, 2, 4, 5, 6, 8, 9, 10]
    assert (await place.read())[0].fields["code"] == "first"


async def test_item_that_mariadb_cannot_be_sent_is_refused(
    mariadb: SqlServer, tmp_path: Path
) -> None:
    place = server_place(mariadb, tmp_path)
    limit = int(mariadb.ask("SELECT @@max_allowed_packet")[0][0])
    refusals = await place.store(
        [
            numbered(1),
            numbered(2, text="x" * limit),
            numbered(3, text="y" * (limit // 2)),
            numbered(4),
        ]
    )
    assert [refusal.item.fields["number"] for refusal in refusals] == [2]
    assert "max_allowed_packet" in refusals[0].reason
    assert await place.numbers() == [1, 3, 4]


async def test_server_that_dies_while_a_table_is_changed_is_down(
    server: SqlServer, tmp_path: Path
) -> None:
    place = server_place(server, tmp_path)
    is_mariadb = isinstance(server, MariaDbServer)
    own_number = "CONNECTION_ID()" if is_mariadb else "pg_backend_pid()"
    kill = "KILL {}" if is_mariadb else "SELECT pg_terminate_backend({})"

    async def die_while_changing(sink: SqlSink) -> None:
        async with (
            sink._client.transaction() as connection,
            sink._backend.access.changing(connection),
        ):
            number = (await connection.exec_driver_sql(f"SELECT {own_number}")).scalar_one()
            server.ask(kill.format(number))
            await connection.exec_driver_sql("SELECT 1")

    async with place.opened() as sink:
        await sink.store([numbered(1)])
        with pytest.raises(TroubleError) as caught:
            await die_while_changing(sink)
        assert caught.value.trouble is Trouble.DOWN
        assert await sink.store([numbered(2, new="a field")]) == []
    assert await place.numbers() == [1, 2]


# Errors that users meet.


async def open_error(address: str) -> str:
    sink = sink_at(address)
    with pytest.raises(StoreError) as caught:
        await sink.open()
    await sink.close()
    assert SqlServer.ROOT_PASSWORD not in str(caught.value)
    return str(caught.value)


async def test_table_of_somebody_else_is_left_alone(place: Place) -> None:
    place.ask(f"CREATE TABLE {place.table} (name VARCHAR(10))")
    assert "not created by Weft" in await open_error(place.address)
    assert list(place.types()) == ["name"]


async def test_wrong_password_is_told(server: SqlServer) -> None:
    told = await open_error(server.address(DATABASE, "items", server.ROOT, "wrong"))
    assert server.ROOT in told
    assert "check the user and the password" in told
    assert "wrong@" not in told


async def test_unknown_database_is_told(server: SqlServer) -> None:
    told = await open_error(server.address("nowhere", "items"))
    assert "CREATE DATABASE" in told
    assert "nowhere" in told


async def test_server_that_is_not_there_is_told(server: SqlServer) -> None:
    address = server.address(DATABASE, "items").replace(server.host, "127.0.0.1:9")
    assert "at 127.0.0.1:9 cannot be reached" in await open_error(address)


USER, PASSWORD = "reader", "secret"


@pytest.fixture
def limited(server: SqlServer) -> Iterator[SqlServer]:
    """With a user who may do nothing yet."""
    is_mariadb = isinstance(server, MariaDbServer)
    how = "IDENTIFIED BY" if is_mariadb else "PASSWORD"
    server.ask(f"CREATE USER {USER} {how} '{PASSWORD}'", DATABASE)
    yield server
    if not is_mariadb:
        server.ask(f"DROP OWNED BY {USER}", DATABASE)
    server.ask(f"DROP USER {USER}", DATABASE)


async def test_missing_rights_are_told_when_the_sink_is_opened(
    limited: SqlServer, tmp_path: Path
) -> None:
    table = table_of(tmp_path)
    mine = limited.address(DATABASE, table, USER, PASSWORD)
    if isinstance(limited, MariaDbServer):
        limited.ask(f"GRANT SELECT ON {DATABASE}.* TO {USER}")
    assert "GRANT CREATE" in await open_error(mine)
    await server_place(limited, tmp_path).store(numbered_items([1]))
    steps = [("SELECT", "GRANT SELECT, INSERT"), ("INSERT", "GRANT SELECT, INSERT, UPDATE")]
    for right, told in [*steps, ("UPDATE", "ALTER")]:
        limited.ask(f"GRANT {right} ON {table} TO {USER}", DATABASE)
        assert told in await open_error(mine)
    assert await server_place(limited, tmp_path).numbers() == [1]


async def test_who_may_not_alter_can_still_use_a_strict_table(
    limited: SqlServer, tmp_path: Path
) -> None:
    place = server_place(limited, tmp_path)
    await place.store(numbered_items([1]))
    limited.ask(f"GRANT SELECT, INSERT, UPDATE ON {place.table} TO {USER}", DATABASE)
    place.address = limited.address(DATABASE, place.table, USER, PASSWORD)
    await place.store(numbered_items([2]), is_strict=True)
    assert await place.numbers() == [1, 2]


# Servers that die.


async def test_server_that_is_killed_between_batches(server: SqlServer, tmp_path: Path) -> None:
    place = server_place(server, tmp_path)

    async with place.opened() as sink:
        await sink.store(numbered_items(range(5)))
        server.kill()
        try:
            with pytest.raises(SinkDownError, match="cannot be reached"):
                await sink.store(numbered_items(range(10)))
        finally:
            server.start()
        await sink.store(numbered_items(range(10)))
        server.kill()
        server.start()
        await sink.store([numbered(10, new="column")])
    assert await place.numbers() == list(range(11))


async def test_server_that_is_killed_while_it_stores(server: SqlServer, tmp_path: Path) -> None:
    place = server_place(server, tmp_path)
    batches = [numbered_items(range(start, start + 50)) for start in range(0, 1000, 50)]

    async def insist(sink: SqlSink, batch: list[KeyedItem]) -> int:
        for attempt in range(1000):
            try:
                await sink.store(batch)
                return attempt
            except SinkDownError:
                await asyncio.sleep(0.02)
        raise AssertionError("the server did not come back")

    def die_and_come_back() -> None:
        server.kill()
        server.start()

    async with place.opened() as sink:
        await sink.store(batches[0])
        dying = asyncio.create_task(asyncio.to_thread(die_and_come_back))
        while not dying.done():
            for batch in batches:
                await insist(sink, batch)
        await dying
    assert await place.numbers() == list(range(1000))


async def test_database_file_that_was_deleted_is_told(tmp_path: Path) -> None:
    place = Place(f"sqlite://{tmp_path}/shop.db/items", sqlite_asker(tmp_path / "shop.db"))

    async with place.opened() as sink:
        (tmp_path / "shop.db").unlink()
        with pytest.raises(StoreError, match="moved or deleted"):
            await sink.store(numbered_items([1]))


async def test_two_tables_of_one_file(tmp_path: Path) -> None:
    ask = sqlite_asker(tmp_path / "shop.db")
    for table in ("books", "films"):
        await Place(f"sqlite://{tmp_path}/shop.db/{table}", ask).store(numbered_items([1]))
    assert await Place(f"sqlite://{tmp_path}/shop.db/films", ask).numbers() == [1]

"""The contract of `Sink` on a real MongoDB, and what is particular to that one."""

import asyncio
import gc
import os
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from launchers.mongodb import MongoServer
from servers import started
from weft.errors import SinkDownError, StoreError, StoreMissingError
from weft.sinks import KeyedItem, Refusal, Sink, SinkConfig, make_sink
from weft.sinks.mongodb.document import decode_document
from weft.sinks.readback import Query, ReadableSink, StoredItem
from weft.testing.sink_contract import SinkContract, numbered, numbered_items
from weft.testing.waiting import until

#: A server that is not there is to be noticed quickly.
QUICK = "&serverSelectionTimeoutMS=300"


#: PyMongo leaves a socket to the garbage collector if it is closed while it connects.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module", autouse=True)
def _left_sockets() -> Iterator[None]:
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def mongo() -> Iterator[MongoServer]:
    with started(MongoServer) as server:
        yield server


def collection_of(directory: Path) -> str:
    return f"items-{blake2b(os.fsencode(directory), digest_size=8).hexdigest()}"


def sink_at(address: str, job: str = "job") -> Sink:
    return make_sink(address, SinkConfig(Path("unused"), job))


@asynccontextmanager
async def opened(address: str, job: str = "job") -> AsyncIterator[Sink]:
    sink = sink_at(address, job)
    await sink.open()
    try:
        yield sink
    finally:
        await sink.close()


async def store(address: str, items: Sequence[KeyedItem], job: str = "job") -> Sequence[Refusal]:
    async with opened(address, job) as sink:
        return await sink.store(items)


async def read(address: str, query: Query | None = None) -> list[StoredItem]:
    sink = sink_at(address)
    assert isinstance(sink, ReadableSink)

    return [item async for item in sink.read(query or Query())]


async def read_numbers(address: str, query: Query | None = None) -> list[object]:
    return [item.fields["number"] for item in await read(address, query)]


async def open_fails(address: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        async with opened(address):
            pass
    return caught.value


class TestMongoSink(SinkContract):
    KEEPS_NEWER = True

    @pytest.fixture(autouse=True)
    def _server(self, mongo: MongoServer) -> None:
        self.mongo = mongo

    def make_sink(self, directory: Path) -> Sink:
        return sink_at(self.mongo.address(collection_of(directory)))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        # By another driver than the sink's.
        with self.mongo.client() as client:
            found = client["weft"][collection_of(directory)].find()
            return [decode_document(document).fields for document in found]


@pytest.fixture
def address(mongo: MongoServer, tmp_path: Path) -> str:
    return mongo.address(collection_of(tmp_path), QUICK)


@pytest.fixture
def name(tmp_path: Path) -> str:
    return collection_of(tmp_path)


# Documents.


async def test_a_document_says_what_is_known_of_its_item(
    mongo: MongoServer, address: str, name: str
) -> None:
    item = KeyedItem(b"k" * 16, {"title": "x"}, "https://shop/1", 1_700_000_000_123)
    await store(address, [item, numbered(2)])
    with mongo.client() as client:
        first, second = client["weft"][name].find()
    assert list(first) == ["_id", "_job", "_page", "_fetched_at", "title"]
    assert first["_id"] == item.key.hex()
    assert first["_job"] == "job"
    assert first["_page"] == "https://shop/1"
    assert first["_fetched_at"].isoformat() == "2023-11-14T22:13:20.123000"
    assert second["_fetched_at"] is None
    assert (await read(address))[0] == StoredItem(
        item.key.hex(), "job", item.page, 1_700_000_000_123, item.fields
    )


async def test_fields_may_have_any_name(address: str) -> None:
    fields: dict[str, object] = dict.fromkeys(("_id", "_job", "_page", "_fetched_at", "_more"), 1)
    fields |= {"$x": 2, "a.b": 3, "": 4, "$ref": "r", "$id": 5, "nested": {"$ref": 1, "$id": 2}}
    for _ in range(2):  # inserted, then replaced
        assert not await store(address, [KeyedItem(b"k" * 16, fields, "p")])
    (item,) = await read(address)
    assert item.fields == fields
    assert (item.key, item.job, item.page) == ((b"k" * 16).hex(), "job", "p")


async def test_an_index_of_the_user_on_the_same_field_is_kept(
    mongo: MongoServer, address: str, name: str
) -> None:
    with mongo.client() as client:
        client["weft"][name].create_index("_fetched_at", name="expiry", expireAfterSeconds=10**9)
        await store(address, [numbered(1)])
        indexes = client["weft"][name].index_information()
    assert set(indexes) == {"_id_", "expiry", "_job_1__fetched_at_1"}


# Batches.


async def test_known_items_are_replaced_whatever_the_batch_before_was_like(address: str) -> None:
    async with opened(address) as sink:
        for version in range(3):
            await sink.store([numbered(n, version=version) for n in range(10)])
        await sink.store([numbered(n, version=3) for n in range(5, 25)])
        await sink.store([numbered(n, version=4) for n in range(24, 40)])
    versions = [item.fields["version"] for item in await read(address)]
    assert versions == [2] * 5 + [3] * 19 + [4] * 16


async def test_large_items_are_sent_in_several_batches(address: str) -> None:
    items = [numbered(n, text="x" * 3_000_000) for n in range(5)]
    assert not await store(address, items)
    assert await read_numbers(address) == [0, 1, 2, 3, 4]


async def test_refused_items_do_not_keep_others_from_being_stored(
    mongo: MongoServer, address: str, name: str
) -> None:
    with mongo.client() as client:
        rule = {"number": {"$lt": 100}}
        client["weft"].create_collection(name, validator=rule)
        client["weft"][name].create_index("unique", unique=True, sparse=True)
    good = [numbered(1), numbered(2, unique="u"), numbered(3), numbered(4)]
    bad = [numbered(100), numbered(5, text="x" * 17_000_000), numbered(6, unique="u")]
    batch = [bad[0], good[0], good[1], bad[1], good[2], bad[2], good[3]]
    for _ in range(3):  # inserted, inserted in vain and replaced, replaced at once
        refusals = {refusal.item.key: refusal.reason for refusal in await store(address, batch)}
        assert set(refusals) == {item.key for item in bad}
        assert "failed validation" in refusals[bad[0].key]
        assert "at most 16,777,216" in refusals[bad[1].key]
        assert "duplicate key" in refusals[bad[2].key]
        assert await read_numbers(address) == [1, 2, 3, 4]


async def test_refused_items_among_known_ones_do_not_keep_others_from_being_stored(
    mongo: MongoServer, address: str, name: str
) -> None:
    with mongo.client() as client:
        client["weft"].create_collection(name, validator={"number": {"$lt": 100}})

    async with opened(address) as sink:
        for _ in range(2):  # from now on it expects known items
            await sink.store(numbered_items(range(5)))
        refusals = await sink.store(numbered_items([100, 0, 101, 102, 7, 103]))
    assert [refusal.item for refusal in refusals] == numbered_items([100, 101, 102, 103])
    assert await read_numbers(address) == [0, 1, 2, 3, 4, 7]


# Reading and clearing.


async def test_items_are_read_by_job_and_time(address: str) -> None:
    def fetched(number: int, at_ms: int) -> KeyedItem:
        return KeyedItem(number.to_bytes(16, "big"), {"number": number}, "p", at_ms)

    await store(address, [fetched(1, 1000), fetched(2, 2000), fetched(3, 0)], job="a")
    await store(address, [fetched(4, 1500), fetched(5, 2500)], job="b")
    assert sorted(map(str, await read_numbers(address))) == ["1", "2", "3", "4", "5"]
    assert sorted(map(str, await read_numbers(address, Query(job="a")))) == ["1", "2", "3"]
    assert await read_numbers(address, Query(since_ms=2000)) == [2, 5]
    assert await read_numbers(address, Query(job="b", since_ms=1501)) == [5]


async def test_documents_of_others_are_not_read(
    mongo: MongoServer, address: str, name: str
) -> None:
    await store(address, [numbered(1)])
    with mongo.client() as client:
        client["weft"][name].insert_one({"foreign": 1})
    assert await read_numbers(address) == [1]


async def test_reading_makes_nothing(mongo: MongoServer, address: str, name: str) -> None:
    with pytest.raises(StoreMissingError, match="no collection"):
        await read(address)
    with mongo.client() as client:
        assert name not in client["weft"].list_collection_names()


async def test_clear_keeps_items_of_other_jobs(address: str) -> None:
    async with opened(address, "a") as one, opened(address, "b") as other:
        await one.store([numbered(1)])
        await other.store([numbered(2)])
        await one.clear()
    assert await read_numbers(address) == [2]


# Rights and places.


def make_user(mongo: MongoServer, user: str, *roles: dict[str, str]) -> None:
    with mongo.client() as client:
        client["admin"].command("createUser", user, pwd="secret", roles=list(roles))


async def test_a_wrong_password_is_told_on_opening(mongo: MongoServer) -> None:
    problem = await open_fails(mongo.address("c", user="root", password="wrong-secret"))
    assert not isinstance(problem, SinkDownError)
    assert "does not let user 'root' in" in str(problem)
    assert "authSource" in str(problem)
    assert "wrong-secret" not in str(problem)


@pytest.mark.parametrize("role", ["read", "dbAdmin"])
async def test_a_missing_right_is_told_on_opening(mongo: MongoServer, name: str, role: str) -> None:
    make_user(mongo, f"may-{role}", {"role": role, "db": "weft"})
    problem = await open_fails(mongo.address(name, user=f"may-{role}", password="secret"))
    assert not isinstance(problem, SinkDownError)
    assert f"does not let user 'may-{role}'" in str(problem)
    assert "readWrite" in str(problem)


async def test_the_role_that_errors_name_is_enough(mongo: MongoServer, name: str) -> None:
    make_user(mongo, "writer", {"role": "readWrite", "db": "weft"})
    address = mongo.address(name, user="writer", password="secret")
    await store(address, [numbered(1)])
    assert await read_numbers(address) == [1]


async def test_a_reader_may_read(mongo: MongoServer, address: str, name: str) -> None:
    make_user(mongo, "reader", {"role": "read", "db": "weft"})
    await store(address, [numbered(1)])
    assert await read_numbers(mongo.address(name, user="reader", password="secret")) == [1]


async def test_somebody_without_a_name_is_told_to_give_one(mongo: MongoServer) -> None:
    problem = await open_fails(f"mongodb://{mongo.host}/weft/c")
    assert "mongodb://user:password@host" in str(problem)


@pytest.mark.parametrize("host", ["nowhere.invalid", "127.0.0.1:1"])
async def test_a_server_that_is_not_there_is_told_on_opening(host: str) -> None:
    problem = await open_fails(f"mongodb://me:secret@{host}/weft/c?{QUICK[1:]}")
    assert isinstance(problem, SinkDownError)
    assert str(problem).startswith(f"MongoDB at {host} cannot be reached: ")
    assert "check that it is running" in str(problem)
    assert "secret" not in str(problem)
    assert "Topology" not in str(problem)


# A server that dies.


async def test_a_server_that_dies_between_two_batches_loses_nothing(
    mongo: MongoServer, address: str
) -> None:
    async with opened(address) as sink:
        await sink.store(numbered_items(range(50)))
        mongo.kill()
        try:
            with pytest.raises(SinkDownError, match="cannot be reached"):
                await sink.store(numbered_items(range(40, 100)))
        finally:
            mongo.start()
        await stored(sink, numbered_items(range(40, 100)))
    # A server that was killed may put its documents in another order.
    assert sorted(await read_numbers(address), key=str) == sorted(range(100), key=str)


async def test_a_server_that_dies_in_the_middle_of_a_batch_has_it_once_in_the_end(
    mongo: MongoServer, address: str, name: str
) -> None:
    items = [numbered(n, text="x" * 5000) for n in range(4000)]

    async with opened(address) as sink:
        await sink.store([numbered(0)])
        storing = asyncio.create_task(sink.store(items))
        with mongo.client() as client:
            documents = client["weft"][name]
            await until(lambda: documents.estimated_document_count() > 1, "some are stored")
        mongo.kill()
        try:
            with pytest.raises(SinkDownError):
                await storing
        finally:
            mongo.start()
        await stored(sink, items)
    assert sorted(await read_numbers(address), key=str) == sorted(range(4000), key=str)


async def test_a_server_that_says_nothing_is_down_and_comes_back(
    mongo: MongoServer, name: str
) -> None:
    address = mongo.address(name, f"{QUICK}&socketTimeoutMS=300")

    async with opened(address) as sink:
        await sink.store([numbered(1, v="first")])
        mongo.stop()
        try:
            with pytest.raises(SinkDownError):
                await sink.store([numbered(1, v="late")])
        finally:
            mongo.cont()
        await stored(sink, [numbered(1, v="last")])
    (item,) = await read(mongo.address(name))  # as patiently as users do
    assert item.fields["v"] == "last"


async def stored(sink: Sink, items: Sequence[KeyedItem]) -> None:
    """As the crawl does it: until the sink has them."""
    for _ in range(100):
        try:
            assert not await sink.store(items)
        except SinkDownError:
            await asyncio.sleep(0.05)
        else:
            return
    pytest.fail("the sink did not come back")


async def test_a_cancelled_store_takes_effect_before_the_next(address: str) -> None:
    async with opened(address) as sink:
        for version in range(20):
            first = asyncio.create_task(sink.store([numbered(1, v=version)]))
            await asyncio.sleep(0.001 * (version % 4))
            first.cancel()
            await sink.store([numbered(1, v="after")])
            (item,) = await read_now(sink)
            assert item.fields["v"] == "after"


async def read_now(sink: Any) -> list[StoredItem]:
    return [item async for item in sink.read(Query())]

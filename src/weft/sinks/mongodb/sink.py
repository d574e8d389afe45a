"""Items in a collection of MongoDB."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar

import pymongo
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.datetime_ms import DatetimeMS
from pymongo import WriteConcern
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure

from weft.errors import StoreError, StoreMissingError
from weft.sinks.base import KeyedItem, Refusal
from weft.sinks.mongodb.address import Client, MongoAddress
from weft.sinks.mongodb.document import FETCHED_AT, JOB, decode_document
from weft.sinks.mongodb.problems import errors_of, lacks_rights
from weft.sinks.mongodb.rights import missing_rights
from weft.sinks.mongodb.writing import Writer
from weft.sinks.readback import Query, StoredItem

#: How long the servers may take to agree on a write: less than `socketTimeoutMS`, so that the
#: primary reports the timeout.
AGREEMENT_MS = 20_000
#: On the disks of most members, whatever the address says: a stored item stays stored.
DURABLE = WriteConcern("majority", wtimeout=AGREEMENT_MS, j=True)
#: For indexes of a large collection, and for deleting the items of a large job.
LONG_WORK_S = 3600.0

#: For `weft items --since` and `--job`.
INDEXES = ([(FETCHED_AT, 1)], [(JOB, 1), (FETCHED_AT, 1)])
#: The index exists with another name or other options, for example one that expires items.
_INDEX_IS_THERE = frozenset({85, 86})

Result = TypeVar("Result")
Collection = AsyncCollection[dict[str, Any]]


class _Opened(NamedTuple):
    client: Client
    collection: Collection
    writer: Writer
    #: Held by the call that is running.
    lock: asyncio.Lock


class MongoSink:
    """A `Sink` that keeps the newer of two items, and can be read.

    A collection has no columns, so `--schema strict` changes nothing here. The user's own
    validation rules apply: what they refuse is refused.
    """

    def __init__(self, address: MongoAddress, job: str = "") -> None:
        self.place = address.place
        self._address = address
        self._job = job
        self._opened: _Opened | None = None
        self._calls: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        await self.close()
        client = self._address.client()
        try:
            with errors_of(self._address):
                collection = self._collection_of(client)
                await self._check_rights(client)
                await self._make_indexes(collection)
                session = client.start_session(causal_consistency=False)
        except BaseException:
            await client.close()
            raise
        writer = Writer(collection, session, self._address, self._job)
        self._opened = _Opened(client, collection, writer, asyncio.Lock())

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        return await self._to_its_end(self._store(items))

    async def clear(self) -> None:
        await self._to_its_end(self._clear())

    async def close(self) -> None:
        if self._opened is None:
            return
        async with self._opened.lock:
            opened, self._opened = self._opened, None
            if opened:
                await opened.client.close()

    async def read(self, query: Query) -> AsyncIterator[StoredItem]:
        client = self._address.client()
        try:
            with errors_of(self._address):
                found = self._collection_of(client).find(_filter(query))
                if query == Query():  # otherwise the server reads along an index, by time
                    found = found.sort("$natural", 1)
                is_empty = True
                async for document in found:
                    is_empty = False
                    yield decode_document(document)
                if is_empty:
                    await self._check_presence(client)
        finally:
            await client.close()

    async def _to_its_end(self, call: Coroutine[Any, Any, Result]) -> Result:
        """Finish the call even if its caller is cancelled: otherwise it would still be running when
        the next one starts."""
        task = asyncio.create_task(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return await asyncio.shield(task)

    async def _store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        opened = self._require_open()
        async with opened.lock:
            with errors_of(self._address):
                return await opened.writer.write(items)

    async def _clear(self) -> None:
        opened = self._require_open()
        async with opened.lock:
            with errors_of(self._address), pymongo.timeout(LONG_WORK_S):
                await opened.collection.delete_many({JOB: self._job})

    def _require_open(self) -> _Opened:
        if self._opened is None:
            raise StoreError(f"{self.place} is not open")
        return self._opened

    def _collection_of(self, client: Client) -> Collection:
        dates = CodecOptions[dict[str, Any]](
            tz_aware=True, datetime_conversion=DatetimeConversion.DATETIME_AUTO
        )
        return client[self._address.database].get_collection(
            self._address.collection, codec_options=dates, write_concern=DURABLE
        )

    async def _check_rights(self, client: Client) -> None:
        """This is the first command sent, so it also checks the login."""
        status = await client.admin.command("connectionStatus", showPrivileges=True)
        missing = missing_rights(status, self._address.database, self._address.collection)
        if missing:
            raise lacks_rights(self._address, " and ".join(missing))

    async def _make_indexes(self, collection: Collection) -> None:
        for keys in INDEXES:
            try:
                with pymongo.timeout(LONG_WORK_S):
                    await collection.create_index(keys)
            except OperationFailure as problem:
                if problem.code not in _INDEX_IS_THERE:
                    raise

    async def _check_presence(self, client: Client) -> None:
        name = self._address.collection
        found = await client[self._address.database].list_collection_names(filter={"name": name})
        if not found:
            raise StoreMissingError(
                f"there is no collection at {self.place}: check the address, or crawl into it first"
            )


def _filter(query: Query) -> dict[str, Any]:
    # Documents without a job are not ours.
    wanted: dict[str, Any] = {JOB: query.job or {"$type": "string"}}
    if query.since_ms:
        wanted[FETCHED_AT] = {"$gte": DatetimeMS(query.since_ms)}
    return wanted

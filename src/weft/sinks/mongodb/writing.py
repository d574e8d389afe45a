"""Writes documents to a collection, each exactly once.

For MongoDB an insert is a third of the work of an upsert, and most items are new. So a batch is
inserted, and items whose key is known replace what is there. If most of a batch was known, as in a
repeated crawl, the next one goes straight to replacing.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import ReplaceOne
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import BulkWriteError

from weft.errors import SinkDownError
from weft.sinks.base import KeyedItem, Refusal
from weft.sinks.mongodb.address import MongoAddress
from weft.sinks.mongodb.document import ID, encode_document
from weft.sinks.mongodb.problems import is_known_id, reason, write_errors

#: MongoDB's limit.
MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
#: Sent at once: small enough for a slow connection within the timeout.
BATCH_BYTES = 4 * 1024 * 1024
BATCH_DOCUMENTS = 1000


class _Encoded(NamedTuple):
    item: KeyedItem
    document: RawBSONDocument


class Writer:
    """All writes use one session: if a write is delayed and arrives late, the server knows that a
    later one came first."""

    def __init__(
        self,
        collection: AsyncCollection[dict[str, Any]],
        session: AsyncClientSession,
        address: MongoAddress,
        job: str,
    ) -> None:
        self._collection = collection
        self._session = session
        self._address = address
        self._job = job
        self._expects_known = False

    async def write(self, items: Sequence[KeyedItem]) -> list[Refusal]:
        refusals: list[Refusal] = []
        for batch in self._batches(items, refusals):
            if self._expects_known:
                await self._replace(batch, refusals)
            else:
                await self._insert(batch, refusals)
        return refusals

    def _batches(
        self, items: Sequence[KeyedItem], refusals: list[Refusal]
    ) -> Iterator[list[_Encoded]]:
        batch: list[_Encoded] = []
        size_bytes = 0
        for item in items:
            data = self._encode(item, refusals)
            if data is None:
                continue
            if batch and (size_bytes + len(data) > BATCH_BYTES or len(batch) == BATCH_DOCUMENTS):
                yield batch
                batch, size_bytes = [], 0
            batch.append(_Encoded(item, RawBSONDocument(data)))
            size_bytes += len(data)
        if batch:
            yield batch

    def _encode(self, item: KeyedItem, refusals: list[Refusal]) -> bytes | None:
        try:
            data = encode_document(item, self._job)
        except (bson.errors.BSONError, ValueError, RecursionError) as problem:
            refusals.append(Refusal(item, f"it cannot be written as BSON: {problem}"))
            return None
        if len(data) > MAX_DOCUMENT_BYTES:
            text = f"it has {len(data):,} bytes, MongoDB accepts at most {MAX_DOCUMENT_BYTES:,}"
            refusals.append(Refusal(item, text))
            return None
        return data

    async def _insert(self, batch: Sequence[_Encoded], refusals: list[Refusal]) -> None:
        documents = [encoded.document for encoded in batch]
        known: list[_Encoded] = []
        try:
            await self._collection.insert_many(documents, ordered=False, session=self._session)
        except BulkWriteError as problem:
            for error in write_errors(problem, self._address):
                encoded = batch[error["index"]]
                if is_known_id(error):
                    known.append(encoded)
                else:
                    refusals.append(Refusal(encoded.item, reason(error)))
        if known:
            await self._replace(known, refusals)
        self._expects_known = 2 * len(known) > len(batch)

    async def _replace(self, batch: Sequence[_Encoded], refusals: list[Refusal]) -> None:
        """One by one, because a batch may contain a key twice. An error stops the bulk write."""
        rest, new = batch, 0
        while rest:
            writes: list[ReplaceOne[dict[str, Any]]] = [
                ReplaceOne({ID: item.key.hex()}, document, upsert=True) for item, document in rest
            ]
            try:
                result = await self._collection.bulk_write(writes, session=self._session)
            except BulkWriteError as problem:
                (error,) = write_errors(problem, self._address)
                encoded = rest[error["index"]]
                if is_known_id(error):  # another worker was slightly faster
                    raise SinkDownError(
                        f"another worker is storing the same items in {self._address.place}"
                    ) from problem
                refusals.append(Refusal(encoded.item, reason(error)))
                rest = rest[error["index"] + 1 :]
            else:
                new += result.upserted_count
                rest = ()
        self._expects_known = 2 * new < len(batch)

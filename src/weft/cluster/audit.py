"""The audit log: who changed what through the API of the masters, and when.

An entry is written before the change is made, so that there is no change without one. What became
of it is added afterwards; an entry without that belongs to a change that is under way, or to a
master that died meanwhile. The latest entries are kept.
"""

import msgspec

from weft.redis import keys
from weft.redis.client import Client

#: So many entries are kept.
MAX_ENTRIES = 10_000
#: A number may be left out when a reply is lost, and then nobody would remove the entry that its
#: owner has to remove: so each removes several.
_REMOVED_AT_ONCE = 16
#: Longer texts are cut.
MAX_WHAT = 500


class AuditEntry(msgspec.Struct, frozen=True):
    #: Later ones have greater numbers.
    number: int
    at_ms: int
    #: The name of the token.
    token: str
    #: What was asked for: method and path.
    what: str
    #: The status of the answer; null: not known (yet).
    status: int | None = None
    #: The job that was started.
    job: str = ""


class AuditLog:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def begin(self, token: str, what: str) -> AuditEntry:
        """Before the change is made."""
        (seconds, micros), number = await self._client.run([("TIME",), ("INCR", keys.AUDIT_LAST)])
        at_ms = int(seconds) * 1000 + int(micros) // 1000
        entry = AuditEntry(int(number), at_ms, token, what[:MAX_WHAT])
        oldest = entry.number - MAX_ENTRIES
        gone = range(oldest, oldest - _REMOVED_AT_ONCE, -1)
        await self._client.run([_writing(entry), ("HDEL", keys.AUDIT, *gone)])
        return entry

    async def end(self, entry: AuditEntry, status: int, job: str) -> None:
        """Add what became of it."""
        ended = msgspec.structs.replace(entry, status=status, job=job[:MAX_WHAT])
        await self._client.run([_writing(ended)])

    async def entries(self, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The latest first. `before`: of those with smaller numbers."""
        [last] = await self._client.run([("GET", keys.AUDIT_LAST)])
        newest = int(last or 0) if before is None else min(int(last or 0), before - 1)
        oldest = max(1, int(last or 0) - MAX_ENTRIES + 1)
        found: list[AuditEntry] = []
        while newest >= oldest and len(found) < limit:
            numbers = range(newest, max(oldest, newest - limit + 1) - 1, -1)
            [packed] = await self._client.run([("HMGET", keys.AUDIT, *numbers)])
            found += (msgspec.msgpack.decode(each, type=AuditEntry) for each in packed if each)
            newest -= len(numbers)
        return found[:limit]


def _writing(entry: AuditEntry) -> tuple[object, ...]:
    return ("HSET", keys.AUDIT, entry.number, msgspec.msgpack.encode(entry))

"""Tokens: who may use the API of the masters of a store, and for what.

Whoever shows the text of a token has its scope. The store has only a digest of it: a text is 256
random bits, which nobody finds by trying, so that a plain SHA-256 is as good as a slow one.
"""

import hmac
import secrets
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256

import msgspec

from weft.redis import keys
from weft.redis.client import Client

#: Programs that look for secrets know it by this.
_PREFIX = "weft_"
_BYTES = 32


class TokenScope(StrEnum):
    """What a token allows; each scope includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, wanted: "TokenScope") -> bool:
        order = list(TokenScope)
        return order.index(self) >= order.index(wanted)


class Token(msgspec.Struct, frozen=True):
    name: str
    scope: TokenScope
    created_at_ms: int
    #: Hexadecimal.
    digest: str


class _TokenRecord(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    scope: TokenScope
    created_at_ms: int


class Tokens:
    """The tokens of a store."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def all(self) -> list[Token]:
        """By name."""
        [found] = await self._client.run([("HGETALL", keys.TOKENS)])
        return [_read(name, packed) for name, packed in sorted(found.items())]

    async def add(self, name: str, scope: TokenScope, digest: str) -> bool:
        """Whether it is the only one of this name. Safe to be sent again."""
        [(seconds, _)] = await self._client.run([("TIME",)])
        record = msgspec.msgpack.encode(_TokenRecord(digest, scope, int(seconds) * 1000))
        await self._client.run([("HSETNX", keys.TOKENS, name, record)])
        [stored] = await self._client.run([("HGET", keys.TOKENS, name)])
        return bool(stored == record)

    async def remove(self, name: str) -> bool:
        """Whether there was one."""
        [removed] = await self._client.run([("HDEL", keys.TOKENS, name)])
        return bool(removed)


def _read(name: bytes, packed: bytes) -> Token:
    record = msgspec.msgpack.decode(packed, type=_TokenRecord)
    return Token(name.decode(), record.scope, record.created_at_ms, record.digest)


def new_text() -> str:
    return f"{_PREFIX}{secrets.token_urlsafe(_BYTES)}"


def digest_of(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()


def find_token(text: str, tokens: Iterable[Token]) -> Token | None:
    """The token with this text. Takes the same time wherever texts differ."""
    digest = digest_of(text)
    found = [each for each in tokens if hmac.compare_digest(each.digest, digest)]
    return found[0] if found else None

"""Tokens for the API of masters: create, list, revoke and check them."""

import asyncio
import math
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from weft.clock import monotonic_s
from weft.cluster.tokens import Token, Tokens, TokenScope, digest_of, find_token, new_text
from weft.errors import ConfigError, NotThereError
from weft.frontier import Store
from weft.redis.client import SHORT_PATIENCE_S, Client

#: What is known of the tokens may be so old.
DEFAULT_MAX_AGE_S = 1.0
_NAME = r"[A-Za-z0-9_.-]{1,64}"


class TokenRow(msgspec.Struct, frozen=True):
    """A token as it may be shown."""

    name: str
    scope: TokenScope
    created_at_ms: int


@asynccontextmanager
async def _opened(store: Store) -> AsyncIterator[Tokens]:
    async with Client(store.url, patience_s=SHORT_PATIENCE_S) as client:
        yield Tokens(client)


async def create_token(store: Store, name: str, scope: TokenScope) -> str:
    """Return its text, which nobody can find out later."""
    async with _opened(store) as tokens:
        text = await make_token(tokens, name, scope)
    if text is None:
        raise ConfigError(
            f"there is a token {name} already; choose another name, or revoke it first with: "
            f"weft token revoke {name}"
        )
    return text


async def make_token(tokens: Tokens, name: str, scope: TokenScope) -> str | None:
    """The text of a new token; None: there is one of this name."""
    if not re.fullmatch(_NAME, name):
        raise ConfigError(
            f"{name!r} cannot be the name of a token: use at most 64 letters, digits, dots, dashes "
            "and underscores"
        )
    text = new_text()
    return text if await tokens.add(name, scope, digest_of(text)) else None


async def list_tokens(store: Store) -> list[TokenRow]:
    async with _opened(store) as tokens:
        return [TokenRow(each.name, each.scope, each.created_at_ms) for each in await tokens.all()]


async def revoke_token(store: Store, name: str) -> None:
    """All masters refuse it within a second."""
    async with _opened(store) as tokens:
        if await tokens.remove(name):
            return
        known = ", ".join(each.name for each in await tokens.all()) or "none"
    raise NotThereError(f"there is no token {name} in {store.place}; there are: {known}")


class TokenCheck:
    """Finds the tokens that requests show, without asking the store for each."""

    def __init__(self, tokens: Tokens, max_age_s: float = DEFAULT_MAX_AGE_S) -> None:
        self._tokens = tokens
        self._max_age_s = max_age_s
        self._known: list[Token] = []
        self._read_at_s = -math.inf
        self._reading: asyncio.Task[None] | None = None

    async def find(self, text: str) -> Token | None:
        """A token that was there a moment ago."""
        if monotonic_s() - self._read_at_s >= self._max_age_s:
            await self._read()
        return find_token(text, self._known)

    async def find_new(self, text: str) -> Token | None:
        """The same for one that may have been made this moment."""
        await self._read()
        return find_token(text, self._known)

    async def _read(self) -> None:
        """Once for all who wait: a store that is away keeps each for seconds."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_now())
        await asyncio.shield(self._reading)

    async def _read_now(self) -> None:
        asked_at_s = monotonic_s()  # a token that is revoked from now on may still be in the answer
        self._known = await self._tokens.all()
        self._read_at_s = asked_at_s

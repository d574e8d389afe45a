"""Who may come in: every request shows a token, and every change is written down.

The guard stands before all endpoints, so that none can forget it. It looks at the token; which
scope is needed, the endpoint says (`needs`). Only /health is open.
"""

import logging
import math
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import HTTPException, Request, Response

from weft.cluster.tokens import Token, Tokens, TokenScope
from weft.control.problems import problem, problem_of
from weft.control.tries import FailedTries
from weft.errors import StoreError, WeftError
from weft.services.tokens import TokenCheck

if TYPE_CHECKING:
    from weft.cluster.audit import AuditEntry

HEALTH = "/health"
#: Answers belong to who asked, and nobody should guess what they are.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_CONDITIONS = ("if-match", "if-none-match", "if-unmodified-since")
_CURE = "send the header Authorization: Bearer TOKEN; `weft token create` makes one"

logger = logging.getLogger(__name__)


class Guard:
    """The middleware."""

    def __init__(self, tokens: Tokens) -> None:
        self._check = TokenCheck(tokens)
        self._tries = FailedTries()

    async def __call__(
        self, request: Request, go_on: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        answer = await self._answer(request, go_on)
        for name, value in _HEADERS.items():
            answer.headers[name] = value
        return answer

    async def _answer(
        self, request: Request, go_on: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        if request.scope["path"] != HEALTH:
            try:
                found = await self._look(request)
            except WeftError as error:
                return problem_of(error)
            if isinstance(found, Response):
                return found
            request.state.token = found
        try:
            answer = await go_on(request)
        except Exception:
            await _end_entry(request, HTTPStatus.INTERNAL_SERVER_ERROR)
            raise
        await _end_entry(request, answer.status_code)
        return answer

    async def _look(self, request: Request) -> Token | Response:
        """The token that the request shows, or what to answer."""
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not text.strip():
            return _unknown(f"this needs a token: {_CURE}")
        text = text.strip()
        # Who has a token comes in, whatever others do at the same address, such as a proxy's.
        if found := await self._check.find(text):
            return found
        address = request.client.host if request.client else ""
        if wait_s := self._tries.wait_s(address):
            return problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too many wrong tokens came from this address; wait a minute",
                headers={"Retry-After": str(math.ceil(wait_s))},
            )
        self._tries.note(address)  # before others of this address come in meanwhile
        if found := await self._check.find_new(text):
            return found
        return _unknown(f"this token does not exist, or was revoked: {_CURE}")


def _unknown(detail: str) -> Response:
    return problem(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})


def needs(
    scope: TokenScope, *, takes_conditions: bool = False
) -> Callable[[Request], Awaitable[None]]:
    """What an endpoint depends on: it needs this scope. `takes_conditions`: it heeds If-Match."""

    async def check(request: Request) -> None:
        check_scope(request, scope)
        if scope is TokenScope.READ or request.method == "GET":
            return
        given = [name for name in _CONDITIONS if name in request.headers]
        if given and not takes_conditions:
            raise HTTPException(
                HTTPStatus.BAD_REQUEST, f"this takes no condition; leave out the header {given[0]}"
            )
        await _begin_entry(request)

    return check


def check_scope(request: Request, scope: TokenScope) -> None:
    token: Token = request.state.token
    if not token.scope.allows(scope):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"this needs a token with the scope {scope}; {token.name} has {token.scope}",
        )


async def _begin_entry(request: Request) -> None:
    # As it was sent, without what follows a question mark. `request.url` believes the header Host.
    path = request.scope["raw_path"].decode("ascii", "replace")
    what = f"{request.method} {path}"
    request.state.entry = await request.app.state.master.audit.begin(request.state.token.name, what)


def note_job(request: Request, job: str) -> None:
    """Add to the audit log which job was started: its name is not in the path."""
    request.state.job = job


async def _end_entry(request: Request, status: int) -> None:
    entry: AuditEntry | None = getattr(request.state, "entry", None)
    if entry is None:
        return
    try:
        await request.app.state.master.audit.end(entry, status, getattr(request.state, "job", ""))
    except StoreError as error:  # the change was made; the entry only lacks what became of it
        logger.warning("the audit log does not know what became of %s: %s", entry.what, error)

"""How errors are answered: as problems by RFC 9457. Nowhere else are errors made HTTP statuses."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError

from weft.errors import (
    ConfigError,
    LostNodeError,
    NotObeyedError,
    NotThereError,
    StoreError,
    StoreMissingError,
    TargetError,
    WeftError,
)

PROBLEM_TYPE = "application/problem+json"

#: The first that fits counts.
_STATUSES: tuple[tuple[type[WeftError], HTTPStatus], ...] = (
    (NotThereError, HTTPStatus.NOT_FOUND),
    (StoreMissingError, HTTPStatus.NOT_FOUND),
    (LostNodeError, HTTPStatus.CONFLICT),
    (NotObeyedError, HTTPStatus.GATEWAY_TIMEOUT),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (TargetError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (ConfigError, HTTPStatus.BAD_REQUEST),
)


class ProblemAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong, and what to do about it."""

    title: str
    status: int
    detail: str
    #: All that is wrong with what was sent, if that may be several things.
    mistakes: list[str] = []


class MistakesError(ConfigError):
    """What was sent has mistakes; each is told."""

    def __init__(self, detail: str, mistakes: Sequence[str]) -> None:
        super().__init__(detail)
        self.detail = detail
        self.mistakes = list(mistakes)


def problem(
    status: int,
    detail: str,
    mistakes: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    told = ProblemAnswer(HTTPStatus(status).phrase, int(status), detail, list(mistakes))
    return Response(msgspec.json.encode(told), status, dict(headers or {}), media_type=PROBLEM_TYPE)


def problem_of(error: WeftError) -> Response:
    if isinstance(error, MistakesError):
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, error.detail, error.mistakes)
    kinds = (status for kind, status in _STATUSES if isinstance(error, kind))
    return problem(next(kinds, HTTPStatus.INTERNAL_SERVER_ERROR), str(error))


def answer_problems(app: FastAPI) -> None:
    """Answer all errors of an app this way."""
    app.exception_handler(WeftError)(_of_weft)
    app.exception_handler(HTTPException)(_of_http)
    for status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):  # of Starlette
        app.exception_handler(int(status))(_of_http)
    app.exception_handler(RequestValidationError)(_of_validation)
    app.exception_handler(Exception)(_of_bug)


async def _of_weft(_: Request, error: WeftError) -> Response:
    return problem_of(error)


async def _of_http(request: Request, error: HTTPException) -> Response:
    detail = str(error.detail)
    if detail == HTTPStatus(error.status_code).phrase:
        detail = (
            f"{request.method} {request.scope['path']} is not an endpoint; see /api/v1/openapi.json"
        )
    return problem(error.status_code, detail, headers=error.headers)


async def _of_validation(_: Request, error: RequestValidationError) -> Response:
    mistakes = [f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()]
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY, "parameters of this request are wrong", mistakes
    )


async def _of_bug(_: Request, __: Exception) -> Response:
    """The error itself is in the log."""
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "this is a bug in Weft; the log of the master tells more"
    )

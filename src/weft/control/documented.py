"""What endpoints take and answer, as they do it and as the OpenAPI document tells it."""

from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, TypeVar

import msgspec
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.openapi.utils import get_openapi

from weft._version import __version__
from weft.cluster.tokens import TokenScope
from weft.control.guard import needs
from weft.control.problems import PROBLEM_TYPE, MistakesError, ProblemAnswer

#: Longer bodies are refused. A board of a thousand lines has 50 kB.
MAX_BODY_BYTES = 250_000
_SCHEME = "token"
_REFS = "#/components/schemas/{name}"
_PROBLEM = {
    "description": "What is wrong, and what to do about it (RFC 9457).",
    "content": {PROBLEM_TYPE: {"schema": {"$ref": _REFS.format(name="ProblemAnswer")}}},
}

Told = TypeVar("Told")

#: The types of all answers and bodies, which the document describes.
_types: dict[Any, None] = {ProblemAnswer: None}


class JsonAnswer(Response):
    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return msgspec.json.encode(content)


def answering(
    kind: Any,
    scope: TokenScope,
    *,
    body: Mapping[str, Any] | None = None,
    statuses: Mapping[int, str] | None = None,
    headers: Mapping[str, str] | None = None,
    takes_conditions: bool = False,
) -> dict[str, Any]:
    """How an endpoint is declared: what it answers, and the scope that it needs. `kind` is the type
    of the answer; None: there is nothing in it. `body` is what it takes, by content type."""
    answers: dict[int | str, Any] = {
        status: {"description": text} | _content(kind) | _headers(headers)
        for status, text in (statuses or {200 if kind else 204: "It is done."}).items()
    }
    answers |= dict.fromkeys((401, 403, 422, 429, 503), _PROBLEM)
    extra: dict[str, Any] = {"security": [{_SCHEME: [str(scope)]}]}
    if body:
        extra["requestBody"] = {"required": True, "content": dict(body)}
    return {
        "dependencies": [Depends(needs(scope, takes_conditions=takes_conditions))],
        "responses": answers | {"default": _PROBLEM},
        "status_code": min(statuses or [200 if kind else 204]),
        "openapi_extra": extra,
    }


def _content(kind: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema_of(kind)}}} if kind else {}


def _headers(headers: Mapping[str, str] | None) -> dict[str, Any]:
    if not headers:
        return {}
    told = {
        name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()
    }
    return {"headers": told}


def schema_of(kind: Any) -> dict[str, Any]:
    """The reference to a type, which is described from now on."""
    _types[kind] = None
    [schema], _ = msgspec.json.schema_components([kind], ref_template=_REFS)
    return schema


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    document = get_openapi(
        title="Weft",
        version=__version__,
        summary="The API of the masters of a store.",
        description="Lists come in pages, errors as problems by RFC 9457. See docs/api.md.",
        routes=app.routes,
    )
    _, found = msgspec.json.schema_components(list(_types), ref_template=_REFS)
    parts = document.setdefault("components", {})
    for schema in found.values():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])
    parts["schemas"] = dict(sorted((parts.get("schemas", {}) | found).items()))
    parts["securitySchemes"] = {
        _SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `weft token create`. Each endpoint names the scope that it "
            "needs: read, write or admin, each with those before it.",
        }
    }
    app.openapi_schema = document
    return document


async def read_body(request: Request) -> bytes:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MAX_BODY_BYTES:
            raise HTTPException(413, f"send at most {MAX_BODY_BYTES:,} bytes")
    return content


async def read_json(request: Request, kind: type[Told]) -> Told:
    """The body of a request. Raises MistakesError."""
    content = await read_body(request)
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MistakesError("the body of this request is wrong", [str(error)]) from error

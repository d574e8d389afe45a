"""Boards of a job."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, HTTPException, Path, Request, Response

from weft.boards.board import BoardSource, board_schema
from weft.boards.board.form import NAME
from weft.boards.store import PutStatus
from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering, read_body
from weft.control.master import TheHome
from weft.control.paging import ListPage, ThePage, page_by_name
from weft.control.problems import MistakesError
from weft.errors import ConfigError
from weft.services import boards as services
from weft.services.boards import BoardRow, ShownBoard
from weft.services.boardtexts import put_board, read_json_board, read_yaml_board

router = APIRouter(tags=["boards"])

BoardName = Annotated[str, Path(pattern=NAME)]

_READERS: dict[str, Callable[[bytes], BoardSource]] = {
    "application/json": read_json_board,
    **dict.fromkeys(
        (
            *("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"),
            *("application/octet-stream", "application/x-www-form-urlencoded", ""),  # of curl
        ),
        read_yaml_board,
    ),
}
_BODY: dict[str, Any] = {
    "application/yaml": {
        "schema": {"type": "string"},
        "example": "name: news\nentries:\n  - https://example.org/news/\n",
    },
    "application/json": {
        "schema": {"type": "object", "description": "As `weft board schema` tells."},
        "example": {"name": "news", "entries": ["https://example.org/news/"]},
    },
}
_ETAG_FORM = r'^"[1-9][0-9]{0,14}"$'
_ETAG = {"ETag": "The version of the board: another for each state of what it says."}


class CheckedBoard(msgspec.Struct, frozen=True):
    """A board without mistakes."""

    name: str
    entries: list[str]


class ChangedBoard(msgspec.Struct, frozen=True):
    """What became of a board that was put."""

    name: str
    status: PutStatus
    version: int


@router.get("/jobs/{job}/boards", **answering(ListPage[BoardRow], TokenScope.READ))
async def list_boards(home: TheHome, wanted: ThePage) -> JsonAnswer:
    """The boards of a job, by name."""
    rows = await services.list_boards([home])
    return JsonAnswer(page_by_name(rows, lambda row: row.name, wanted))


@router.get("/board-schema", **answering(dict[str, Any], TokenScope.READ))
async def show_schema() -> JsonAnswer:
    """The JSON Schema of boards."""
    return JsonAnswer(board_schema())


@router.post("/board-check", **answering(CheckedBoard, TokenScope.READ, body=_BODY))
async def check_board(request: Request) -> JsonAnswer:
    """Tell all mistakes of a board. Nothing is stored or fetched."""
    board = (await _read(request)).board
    return JsonAnswer(CheckedBoard(board.name, list(board.entries)))


@router.get("/jobs/{job}/boards/{name}", **answering(ShownBoard, TokenScope.READ, headers=_ETAG))
async def show_board(home: TheHome, name: BoardName) -> JsonAnswer:
    """What a board says, what became of it, and its last problems; without passwords."""
    shown = await services.show_board(home, name)
    return JsonAnswer(shown, headers={"ETag": _etag(shown.version)})


@router.put(
    "/jobs/{job}/boards/{name}",
    **answering(
        ChangedBoard,
        TokenScope.WRITE,
        body=_BODY,
        statuses={200: "It is changed, or was the same before.", 201: "It is added."},
        headers=_ETAG,
        takes_conditions=True,
    ),
)
async def change_board(
    home: TheHome,
    name: BoardName,
    request: Request,
    if_match: Annotated[
        str | None,
        Header(pattern=_ETAG_FORM, description="Change the board only if this is still its ETag."),
    ] = None,
    if_none_match: Annotated[
        str | None, Header(pattern=r"^\*$", description="*: add the board, unless there is one.")
    ] = None,
) -> JsonAnswer:
    """Add a board, or change it. A crawl that is running notices that within seconds."""
    version = _wanted_version(if_match, if_none_match)
    source = await _read(request)
    if source.board.name != name:
        mistake = f"board: name: the text calls it {source.board.name}, and the address {name}"
        raise MistakesError("the board has mistakes", [mistake])
    result = await put_board(home, source, version)
    if result.status is None:
        raise _conflict(name, result.version)
    status = 201 if result.status is PutStatus.ADDED else 200
    told = ChangedBoard(name, result.status, result.version)
    return JsonAnswer(told, status, {"ETag": _etag(result.version)})


@router.delete("/jobs/{job}/boards/{name}", **answering(None, TokenScope.WRITE))
async def remove_board(home: TheHome, name: BoardName) -> Response:
    """Remove a board and its statistics. Its articles are kept."""
    await services.remove_board(home, name)
    return Response(status_code=204)


@router.post("/jobs/{job}/boards/{name}/pause", **answering(None, TokenScope.WRITE))
async def pause_board(home: TheHome, name: BoardName) -> Response:
    """Let its pages wait until it is resumed."""
    await services.pause_board(home, name)
    return Response(status_code=204)


@router.post("/jobs/{job}/boards/{name}/resume", **answering(None, TokenScope.WRITE))
async def resume_board(home: TheHome, name: BoardName) -> Response:
    """Continue a board that was paused."""
    await services.pause_board(home, name, is_paused=False)
    return Response(status_code=204)


async def _read(request: Request) -> BoardSource:
    """The board in a request. Raises MistakesError with all that is wrong with it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _READERS:
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send application/yaml or application/json"
        )
    content = await read_body(request)
    try:
        return await asyncio.to_thread(_READERS[kind], content)
    except ConfigError as error:
        raise MistakesError("the board has mistakes", str(error).splitlines()) from error


def _etag(version: int) -> str:
    return f'"{version}"'


def _wanted_version(if_match: str | None, if_none_match: str | None) -> int | None:
    if if_match is None:
        return None if if_none_match is None else 0
    if if_none_match is not None:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, "send If-Match to change a board, or If-None-Match to add one"
        )
    return int(if_match.strip('"'))


def _conflict(name: str, version: int) -> HTTPException:
    detail = (
        f"{name} was changed meanwhile; read it again, and change what it says now"
        if version
        else f"there is no board {name} any more; leave out If-Match to add it"
    )
    headers = {"ETag": _etag(version)} if version else None
    return HTTPException(HTTPStatus.PRECONDITION_FAILED, detail, headers)

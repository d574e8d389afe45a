"""Boards: checking their files, and adding, listing, pausing and removing those of a store."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from pathlib import Path

import msgspec

from weft.boards.board import Board, BoardSource, load_board, shown_text
from weft.boards.store import (
    BOARDS_FILE,
    BoardProblem,
    BoardStore,
    PutStatus,
    StoredBoard,
    open_board_store,
)
from weft.config import DEFAULT_JOBS_DIR
from weft.errors import ConfigError, NotThereError, store_error
from weft.frontier import JobHome, Store, find_home, parse_store
from weft.sinks import SinkConfig, make_sink
from weft.sinks.archive import is_archive
from weft.sinks.outputs import without_secrets
from weft.urls import without_password

#: The job that crawls the boards of a store, unless the user names another.
BOARDS_JOB = "boards"

ACTIVE = "active"
PAUSED = "paused"


class CheckedFile(msgspec.Struct, frozen=True):
    """A file that should hold a board."""

    path: str
    #: None: it has mistakes.
    source: BoardSource | None
    #: Each with its place.
    mistakes: Sequence[str] = ()


class BoardRow(msgspec.Struct, frozen=True):
    """A board at one moment."""

    name: str
    job: str
    entries: Sequence[str]
    #: active or paused.
    state: str
    pages: int
    articles: int
    problems: int
    #: When something was last reported of it; 0: never.
    active_at_ms: int


class ShownBoard(msgspec.Struct, frozen=True):
    """All about a board, without passwords."""

    name: str
    job: str
    state: str
    text: str
    board: Board
    #: No other state of a board has the same.
    version: int
    added_at_ms: int
    changed_at_ms: int
    active_at_ms: int
    counts: dict[str, int]
    #: The latest first.
    problems: Sequence[BoardProblem]


def boards_home(job: str | None, store: str | None) -> JobHome:
    """The job that gets new boards."""
    return find_home(job or BOARDS_JOB, store=store or "")


async def homes_with_boards(job: str | None, store: str | None) -> list[JobHome]:
    """All jobs that have boards, or the one that is named."""
    if job or (store and not parse_store(store).is_shared):
        return [boards_home(job, store)]
    names = await _jobs_with_boards(parse_store(store)) if store else _jobs_here()
    others = [name for name in names if name != BOARDS_JOB]
    return [boards_home(each, store) for each in (BOARDS_JOB, *others)]


def _jobs_here() -> list[str]:
    try:
        return sorted(path.parent.name for path in DEFAULT_JOBS_DIR.glob(f"*/{BOARDS_FILE}"))
    except OSError as problem:
        raise store_error(str(DEFAULT_JOBS_DIR), problem) from problem


async def _jobs_with_boards(store: Store) -> list[str]:
    # Imported here because an embedded store needs no Redis client.
    from weft.boards.store.redis import jobs_with_boards

    return await jobs_with_boards(store.url)


async def home_of_board(name: str, job: str | None, store: str | None) -> JobHome:
    """The job that has this board. Raises ConfigError if there is none, or if there are several."""
    homes = await homes_with_boards(job, store)
    names = {home.job: await _names_in(home) for home in homes}
    found = [home for home in homes if name in names[home.job]]
    if len(found) == 1:
        return found[0]
    if found:
        jobs = ", ".join(home.job for home in found)
        raise ConfigError(f"several jobs have a board {name}: {jobs}; name one with --job")
    place = str(homes[0]) if len(homes) == 1 else "any job"
    raise NotThereError(
        _no_board(place, name, sorted({each for own in names.values() for each in own}))
    )


async def _names_in(home: JobHome) -> list[str]:
    if not _has_boards(home):
        return []
    async with open_boards(home) as store:
        return [each.board.name for each in await store.boards()]


def open_boards(home: JobHome) -> BoardStore:
    """For a command; a crawl is more patient."""
    return open_board_store(home.store.directory or home.store.url, home.job, is_brief=True)


def is_board_file(target: str) -> bool:
    """Whether it is the file of a board, by its name."""
    return target.endswith((".yaml", ".yml"))


def check_files(paths: Sequence[Path]) -> list[CheckedFile]:
    """Read files; each must hold a board of its own."""
    checked: list[CheckedFile] = []
    paths_by_name: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        file = _check_file(path)
        if file.source is not None:
            name = file.source.board.name
            first = paths_by_name.setdefault(name, file.path)
            if first != file.path:
                mistake = f"{path}:1:1: name: {first} has the name {name}, too; rename one of them"
                file = CheckedFile(file.path, None, [mistake])
        checked.append(file)
    return checked


def _check_file(path: Path) -> CheckedFile:
    try:
        return CheckedFile(str(path), load_board(path, problem_of_sink))
    except ConfigError as error:
        return CheckedFile(str(path), None, str(error).splitlines())


def problem_of_sink(address: str) -> str:
    """Why articles cannot go there; empty if they can."""
    if is_archive(address):
        return "raw pages belong to the whole crawl; give this address to weft crawl with -o"
    try:
        make_sink(address, SinkConfig(Path()))
    except ConfigError as error:
        return str(error)
    return ""


async def has_boards(home: JobHome) -> bool:
    return bool(await _names_in(home))


async def paused_boards(home: JobHome) -> list[str]:
    """Their names, of a job that has boards."""
    async with open_boards(home) as store:
        return [each.board.name for each in await store.boards() if each.is_paused]


async def add_boards(home: JobHome, sources: Sequence[BoardSource]) -> list[PutStatus]:
    """What became of each. A crawl that is running notices it."""
    async with open_boards(home) as store:
        return await store.put(sources)


async def list_boards(homes: Sequence[JobHome]) -> list[BoardRow]:
    return [row for home in homes for row in await _rows(home)]


async def _rows(home: JobHome) -> list[BoardRow]:
    if not _has_boards(home):
        return []
    async with open_boards(home) as store:
        boards = await store.boards()
        names = [each.board.name for each in boards]
        statistics = await store.statistics(names, has_votes=False)
    return [
        BoardRow(
            each.board.name,
            home.job,
            each.board.entries,
            _state_of(each),
            told.counts.get("pages", 0),
            told.counts.get("articles", 0),
            len(told.problems),
            told.noted_at_ms,
        )
        for each, told in zip(boards, statistics, strict=True)
    ]


async def show_board(home: JobHome, name: str) -> ShownBoard:
    async with _opened(home, name) as store:
        found = await _find(store, home, name)
        [told] = await store.statistics([name], has_votes=False)
    shown_sinks = tuple(map(shown_sink, found.board.sinks))
    return ShownBoard(
        name,
        home.job,
        _state_of(found),
        shown_text(found.text, shown_sink),
        msgspec.structs.replace(found.board, sinks=shown_sinks),
        found.version,
        found.added_at_ms,
        found.changed_at_ms,
        told.noted_at_ms,
        dict(told.counts),
        told.problems,
    )


async def pause_board(home: JobHome, name: str, *, is_paused: bool = True) -> None:
    """Pause a board, or resume it. A crawl that is running notices it."""
    async with _opened(home, name) as store:
        if not await store.set_paused(name, is_paused):
            raise await _unknown(store, home, name)


async def remove_board(home: JobHome, name: str) -> None:
    """Its statistics are forgotten; items are kept."""
    async with _opened(home, name) as store:
        if not await store.remove(name):
            raise await _unknown(store, home, name)


def shown_sink(address: str) -> str:
    """The address of a sink as it may be shown."""
    if "://" not in address:
        return address
    output = without_secrets(address, Path())
    return without_password(output.address if output.lacks_secret else address)


def _state_of(board: StoredBoard) -> str:
    return PAUSED if board.is_paused else ACTIVE


def _has_boards(home: JobHome) -> bool:
    """False only for a directory without boards: looking does not make files."""
    if home.store.directory is None:
        return True
    try:
        return (home.store.directory / BOARDS_FILE).exists()
    except OSError as problem:
        raise store_error(str(home.store.directory), problem) from problem


@asynccontextmanager
async def _opened(home: JobHome, name: str) -> AsyncIterator[BoardStore]:
    """The store that should have this board."""
    if not _has_boards(home):
        raise NotThereError(_no_board(str(home), name, []))
    async with open_boards(home) as store:
        yield store


async def _find(store: BoardStore, home: JobHome, name: str) -> StoredBoard:
    boards = {each.board.name: each for each in await store.boards()}
    if name not in boards:
        raise NotThereError(_no_board(str(home), name, list(boards)))
    return boards[name]


async def _unknown(store: BoardStore, home: JobHome, name: str) -> NotThereError:
    return NotThereError(
        _no_board(str(home), name, [each.board.name for each in await store.boards()])
    )


def _no_board(place: str, name: str, names: Sequence[str]) -> str:
    if not names:
        return f"there are no boards in {place}; add one with: weft board add FILE"
    close = get_close_matches(name, names, 1)
    cure = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
    return f"there is no board {name} in {place}; {cure}"

"""Boards in Redis, for a job on a shared store. Each call that changes something is one script."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from weft.boards.board.board import BoardSource, pack_board
from weft.boards.store.base import (
    KEPT_SHAPES,
    MAX_PROBLEMS,
    MAX_SHAPES,
    BoardProblem,
    BoardReport,
    BoardStatistics,
    PutResult,
    PutStatus,
    ShapeVotes,
    StoredBoard,
    clipped,
)
from weft.boards.store.stored import read_stored
from weft.clock import Clock
from weft.redis import keys
from weft.redis.address import shown
from weft.redis.client import DEFAULT_PATIENCE_S, SHORT_PATIENCE_S, Client, Command
from weft.redis.script import NO_CONFIG, Arguments, NoConfig, Reply, Script

#: Processes whose last reports are remembered, so that none counts twice …
MAX_REPORTERS = 1_000
#: … and for how long at least: nobody tries longer to send a report again.
REPORTER_MS = 3_600_000


class PutBoards(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    #: Name, JSON and text of each.
    given: list[tuple[str, str, str]]


class PutBoardIf(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    name: str
    board: str
    text: str
    #: -1: whatever version it has.
    wanted: int


class PauseBoard(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    name: str
    is_paused: bool


class RemoveBoard(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    name: str


class ForgetStatistics(msgspec.Struct, frozen=True, array_like=True):
    pass


class PackedReport(msgspec.Struct, frozen=True, array_like=True):
    name: str
    counts: list[tuple[str, int]]
    #: Shape, articles, lists.
    votes: list[tuple[str, int, int]]
    #: Each packed, and its time.
    problems: list[tuple[str, int]]


class NoteBoards(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    reporter: str
    number: int
    reports: list[PackedReport]


class NoteLimits(msgspec.Struct, frozen=True, array_like=True):
    max_shapes: int = MAX_SHAPES
    kept_shapes: int = KEPT_SHAPES
    max_problems: int = MAX_PROBLEMS
    max_reporters: int = MAX_REPORTERS
    patience_ms: int = REPORTER_MS


class StoredRecord(msgspec.Struct, frozen=True, array_like=True):
    """A board as the scripts pack it."""

    board: str
    text: str
    is_paused: bool
    added_at_ms: int
    changed_at_ms: int
    version: int


_PACKAGE = "weft.boards.store.lua"
_BASICS = ("basics",)
_LIMITS = msgspec.msgpack.encode(NoteLimits())
_PROBLEMS = msgspec.json.Decoder(tuple[str, str])
_RECORDS = msgspec.msgpack.Decoder(StoredRecord)

PUT = Script(
    _PACKAGE, ("boards", "put_boards"), NoConfig, PutBoards, list[PutStatus], libraries=_BASICS
)
PUT_IF = Script(
    _PACKAGE, ("boards", "put_board_if"), NoConfig, PutBoardIf, tuple[str, int], libraries=_BASICS
)
PAUSE = Script(_PACKAGE, ("boards", "pause_board"), NoConfig, PauseBoard, bool, libraries=_BASICS)
REMOVE = Script(
    _PACKAGE, ("boards", "remove_board"), NoConfig, RemoveBoard, bool, libraries=_BASICS
)
FORGET = Script(_PACKAGE, ("boards", "forget_statistics"), NoConfig, ForgetStatistics, bool)
NOTE = Script(_PACKAGE, ("note_boards",), NoteLimits, NoteBoards, bool, libraries=_BASICS)
_SCRIPTS = (PUT, PUT_IF, PAUSE, REMOVE, NOTE, FORGET)


async def jobs_with_boards(url: str) -> list[str]:
    """All jobs of a store that have, or had, boards."""
    async with Client(url, patience_s=SHORT_PATIENCE_S) as client:
        [found] = await client.run([("SMEMBERS", keys.BOARDS)])
    return sorted(name.decode() for name in found)


class RedisBoardStore:
    """A `BoardStore`. `clock` is for tests; without it Redis' own counts."""

    def __init__(
        self,
        url: str,
        job: str,
        clock: Clock | None = None,
        *,
        patience_s: float = DEFAULT_PATIENCE_S,
    ) -> None:
        self._client = Client(url, patience_s=patience_s)
        self._client.know({script.sha: script.source for script in _SCRIPTS})
        self._job = job
        self._place = f"{job} in {shown(url)}"
        self._prefix = keys.job_prefix(job)
        self._clock = clock
        self._reporter = secrets.token_hex(8)
        self._reports = 0

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._client.__aexit__(*exc_info)

    async def boards(self) -> list[StoredBoard]:
        [packed] = await self._client.run([("HGETALL", f"{self._prefix}boards")])
        found = sorted((name.decode(), record) for name, record in _pairs(packed))
        return [self._read(name, _RECORDS.decode(record)) for name, record in found]

    def _read(self, name: str, record: StoredRecord) -> StoredBoard:
        return StoredBoard(
            read_stored(name, record.board, self._place),
            record.text,
            record.is_paused,
            record.added_at_ms,
            record.changed_at_ms,
            record.version,
        )

    async def revision(self) -> int:
        [number] = await self._client.run([("GET", f"{self._prefix}boards:revision")])
        return int(number or 0)

    async def put(self, sources: Sequence[BoardSource]) -> list[PutStatus]:
        if not sources:
            return []
        await self._announce()
        given = [(each.board.name, pack_board(each.board), each.text) for each in sources]
        return await self._call(PUT, PutBoards(self._now_ms(), given))

    async def put_if(self, source: BoardSource, version: int | None) -> PutResult:
        await self._announce()
        wanted = -1 if version is None else version
        call = PutBoardIf(
            self._now_ms(), source.board.name, pack_board(source.board), source.text, wanted
        )
        status, now = await self._call(PUT_IF, call)
        return PutResult(PutStatus(status) if status else None, now)

    async def _announce(self) -> None:
        """Before the first board is put, so that none is missed by those who look for all."""
        await self._client.run([("SADD", keys.BOARDS, self._job)])

    async def set_paused(self, name: str, is_paused: bool) -> bool:
        return await self._call(PAUSE, PauseBoard(self._now_ms(), name, is_paused))

    async def remove(self, name: str) -> bool:
        return await self._call(REMOVE, RemoveBoard(self._now_ms(), name))

    async def note(self, reports: Mapping[str, BoardReport]) -> None:
        if not reports:
            return
        self._reports += 1
        packed = [_packed(name, report) for name, report in reports.items()]
        call = NoteBoards(self._now_ms(), self._reporter, self._reports, packed)
        await self._call(NOTE, call, _LIMITS)

    async def forget_statistics(self) -> None:
        await self._call(FORGET, ForgetStatistics())

    async def statistics(
        self, names: Sequence[str], *, has_votes: bool = True
    ) -> list[BoardStatistics]:
        if not names:
            return []
        owns = [f"{self._prefix}board:{name}" for name in names]
        asked: list[Command] = [("HMGET", f"{self._prefix}boards:active", *names)]
        asked += [("HGETALL", f"{own}:counts") for own in owns]
        asked += [("ZREVRANGE", f"{own}:problems", 0, -1, "WITHSCORES") for own in owns]
        if has_votes:
            asked += [("HGETALL", f"{own}:votes") for own in owns]
        [noted, *told] = await self._client.run(asked)
        size = len(names)
        counts, problems, votes = told[:size], told[size : 2 * size], told[2 * size :]
        votes = votes or [()] * size
        return [_statistics(*each) for each in zip(counts, problems, votes, noted, strict=True)]

    async def _call(
        self, script: Script[Arguments, Reply], call: Arguments, config: bytes = NO_CONFIG
    ) -> Reply:
        [raw] = await self._client.run([script.call(self._prefix, config, call)])
        return script.read(raw)

    def _now_ms(self) -> int:
        return self._clock.now_ms() if self._clock else 0


def _packed(name: str, report: BoardReport) -> PackedReport:
    return PackedReport(
        name,
        list(report.counts.items()),
        [(shape, *votes) for shape, votes in report.votes.items()],
        [
            (msgspec.json.encode((each.url, each.what)).decode(), each.at_ms)
            for each in map(clipped, report.problems)
        ],
    )


def _statistics(
    counts: Any, problems: Any, votes: Any, noted_at_ms: bytes | None
) -> BoardStatistics:
    return BoardStatistics(
        {name.decode(): int(number) for name, number in _pairs(counts)},
        {shape.decode(): _votes(packed) for shape, packed in _pairs(votes)},
        tuple(_problem(what, int(at_ms)) for what, at_ms in _pairs(problems)),
        int(noted_at_ms or 0),
    )


def _problem(packed: bytes, at_ms: int) -> BoardProblem:
    url, what = _PROBLEMS.decode(packed)
    return BoardProblem(url, what, at_ms)


def _votes(packed: bytes) -> ShapeVotes:
    articles, lists, _ = packed.split()
    return ShapeVotes(int(articles), int(lists))


def _pairs(flat: Any) -> list[tuple[Any, Any]]:
    """What a hash or a sorted set is answered as: in pairs, a list of both, or a mapping."""
    if isinstance(flat, Mapping):
        return list(flat.items())
    return list(zip(flat[::2], flat[1::2], strict=True))

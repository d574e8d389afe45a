"""The contract of stores of boards, on every backend."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import ClassVar, Self

import msgspec
import pytest

from launchers.redis import RedisServer
from servers import Kit, Servers, all_keys, emptied, nodes
from weft.boards.board import Board, BoardSource, Limits
from weft.boards.board.board import pack_board
from weft.boards.fields import Fields, rules_of
from weft.boards.store import (
    BOARDS_FILE,
    BoardProblem,
    BoardReport,
    BoardStatistics,
    BoardStore,
    PutResult,
    PutStatus,
    ShapeVotes,
    open_board_store,
)
from weft.boards.store.base import KEPT_SHAPES, MAX_PROBLEMS, MAX_SHAPES, MAX_TEXT
from weft.boards.store.redis import NoteLimits, RedisBoardStore
from weft.boards.store.sqlite import SqliteBoardStore
from weft.clock import Clock
from weft.errors import StoreError, StoreFormatError
from weft.testing import FakeClock

ENTRIES = ("https://example.org/",)


def source(name: str = "news", text: str = "name: …", **keys: object) -> BoardSource:
    return BoardSource(msgspec.convert({"name": name, "entries": ENTRIES} | keys, Board), text)


def problem(number: int, what: str = "status 404") -> BoardProblem:
    return BoardProblem(f"https://example.org/{number}", what, number)


def fields_of(kit: Kit, key: str) -> int:
    """How many fields a hash has."""
    [holder] = (node for node in nodes(kit) if key in node.ask("KEYS", "*"))
    return int(holder.ask("HLEN", key))


def lines_until_killed(code: str, number: int) -> list[bytes]:
    """What a program prints until it is killed, which is soon after so many lines."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(number)]
        process.kill()
        lines += process.stdout.readlines()
    return [line for line in lines if line.endswith(b"\n")]


class BoardStoreContract:
    """What every store does."""

    clock: FakeClock

    def make(self, clock: Clock | None = None) -> BoardStore:
        """Another opening of the same store."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _time(self) -> None:
        self.clock = FakeClock(1_700_000_000_000)

    def opened(self) -> BoardStore:
        return self.make(self.clock)

    async def test_a_new_store_is_empty(self) -> None:
        async with self.opened() as store:
            assert await store.boards() == []
            assert await store.revision() == 0
            assert await store.statistics(["news"]) == [BoardStatistics()]
            assert await store.statistics([]) == []
            assert await store.put([]) == []
            await store.note({})

    async def test_a_board_comes_back_as_it_was_put(self) -> None:
        fields: Fields = {"title": ["h1", "h2"]}
        board = Board(
            "news",
            ENTRIES,
            articles=(r"/\d+\.html$",),
            limits=Limits(pages=5, delay_s=0.5),
            fields=rules_of(fields),
            jumping_urls=(),
            update_after_ms=5_000,
            browser="auto",
            sinks=("mongodb://me:secret@db/news/articles",),
        )
        text = "name: news  # 新闻\n"
        async with self.opened() as store:
            assert await store.put([BoardSource(board, text)]) == [PutStatus.ADDED]
        async with self.opened() as store:
            [found] = await store.boards()
        assert found.board == board
        assert found.text == text
        assert not found.is_paused
        assert found.added_at_ms == found.changed_at_ms == self.clock.now_ms()

    async def test_boards_are_told_by_name(self) -> None:
        async with self.opened() as store:
            assert await store.put([source("b"), source("a"), source("c")]) == ["added"] * 3
            assert [each.board.name for each in await store.boards()] == ["a", "b", "c"]

    async def test_putting_a_board_again_changes_it_and_keeps_its_state(self) -> None:
        async with self.opened() as store:
            await store.put([source(depth=1)])
            await store.set_paused("news", True)
            await store.note({"news": BoardReport({"pages": 3})})
            self.clock.advance(1_000)
            assert await store.put([source(depth=2)]) == [PutStatus.CHANGED]
            [found] = await store.boards()
            assert found.board.depth == 2
            assert found.is_paused
            assert found.changed_at_ms == found.added_at_ms + 1_000
            [statistics] = await store.statistics(["news"])
            assert statistics.counts == {"pages": 3}

    async def test_the_same_board_changes_nothing_but_a_comment_does(self) -> None:
        async with self.opened() as store:
            await store.put([source(text="a")])
            before = (await store.boards(), await store.revision())
            self.clock.advance(1_000)
            assert await store.put([source(text="a")]) == [PutStatus.UNCHANGED]
            assert (await store.boards(), await store.revision()) == before
            assert await store.put([source(text="a # b")]) == [PutStatus.CHANGED]

    async def test_a_board_is_put_only_if_it_has_the_version_that_its_author_knows(self) -> None:
        async with self.opened() as store:
            first = await store.put_if(source(depth=1), 0)
            assert first == PutResult(PutStatus.ADDED, first.version)
            assert await store.put_if(source(depth=2), 0) == PutResult(None, first.version)
            second = await store.put_if(source(depth=2), first.version)
            assert second == PutResult(PutStatus.CHANGED, second.version)
            assert second.version > first.version
            assert await store.put_if(source(depth=3), first.version) == (None, second.version)
            third = await store.put_if(source(depth=3), None)
            assert third.status is PutStatus.CHANGED
            [found] = await store.boards()
            assert (found.board.depth, found.version) == (3, third.version)
            assert await store.put_if(source("other"), 7) == PutResult(None, 0)

    async def test_what_was_put_is_unchanged_when_it_is_sent_again(self) -> None:
        """As after a reply that was lost."""
        async with self.opened() as store:
            first = await store.put_if(source(), 0)
            assert await store.put_if(source(), 0) == PutResult(PutStatus.UNCHANGED, first.version)

    async def test_of_two_who_know_the_same_version_one_puts_its_board(self) -> None:
        async with self.opened() as store, self.opened() as other:
            version = (await store.put_if(source(), 0)).version
            told = await asyncio.gather(
                *(each.put_if(source(depth=i), version) for i, each in ((1, store), (2, other)))
            )
            assert sorted(str(each.status) for each in told) == ["None", "changed"]

    async def test_the_revision_tells_all_changes_and_nothing_else(self) -> None:
        async with self.opened() as store:
            seen = [await store.revision()]

            async def has_grown() -> bool:
                seen.append(await store.revision())
                return seen[-1] > seen[-2]

            await store.put([source()])
            assert await has_grown()
            await store.set_paused("news", True)
            assert await has_grown()
            await store.set_paused("news", True)
            await store.set_paused("other", True)
            await store.remove("other")
            await store.note({"news": BoardReport({"pages": 1})})
            assert not await has_grown()
            await store.set_paused("news", False)
            assert await has_grown()
            await store.remove("news")
            assert await has_grown()

    async def test_no_two_states_of_a_board_have_the_same_version(self) -> None:
        versions = []
        async with self.opened() as store:
            for depth in (1, 2):
                await store.put([source(depth=depth), source("other", depth=depth)])
                versions += [each.version for each in await store.boards()]
                await store.set_paused("news", True)
                versions += [each.version for each in await store.boards()][:1]
                await store.remove("news")
            assert len(set(versions)) == len(versions) == 6
            assert [each.version for each in await store.boards()] == [max(versions) - 1]

    async def test_pausing_and_removing_tell_whether_there_is_such_a_board(self) -> None:
        async with self.opened() as store:
            await store.put([source()])
            assert await store.set_paused("news", True)
            assert [each.is_paused for each in await store.boards()] == [True]
            assert await store.set_paused("news", False)
            assert [each.is_paused for each in await store.boards()] == [False]
            assert not await store.set_paused("nwes", True)
            assert not await store.remove("nwes")
            assert await store.remove("news")
            assert await store.boards() == []
            assert not await store.remove("news")

    async def test_reports_add_up(self) -> None:
        async with self.opened() as store:
            await store.put([source("a"), source("b")])
            first = BoardReport({"pages": 3, "articles": 1}, {"h/N": ShapeVotes(2, 1)})
            second = BoardReport({"pages": 4, "failed": 1}, {"h/N": ShapeVotes(1, 0)})
            await store.note({"a": first, "b": second})
            self.clock.advance(5)
            await store.note({"a": second})
            a, b, none = await store.statistics(["a", "b", "c"])
            assert a.counts == {"pages": 7, "articles": 1, "failed": 1}
            assert a.votes == {"h/N": ShapeVotes(3, 1)}
            assert a.noted_at_ms == self.clock.now_ms()
            assert b.counts == {"pages": 4, "failed": 1}
            assert b.noted_at_ms == self.clock.now_ms() - 5
            assert none == BoardStatistics()
            [bare] = await store.statistics(["a"], has_votes=False)
            assert (bare.counts, bare.votes) == (a.counts, {})

    async def test_statistics_are_forgotten_and_the_boards_stay(self) -> None:
        report = BoardReport({"pages": 3}, {"h/N": ShapeVotes(1, 0)}, [problem(1)])
        async with self.opened() as store:
            await store.forget_statistics()
            await store.put([source("a"), source("b")])
            await store.set_paused("b", True)
            before = (await store.boards(), await store.revision())
            await store.note({"a": report, "b": report})
            await store.forget_statistics()
            assert await store.statistics(["a", "b"]) == [BoardStatistics()] * 2
            assert (await store.boards(), await store.revision()) == before
            await store.note({"a": BoardReport({"pages": 1})})
            a, b = await store.statistics(["a", "b"])
            assert (a.counts, a.votes, a.problems) == ({"pages": 1}, {}, ())
            assert b == BoardStatistics()

    async def test_reports_about_a_board_that_was_removed_are_ignored(self) -> None:
        report = BoardReport({"pages": 1}, {"h/N": ShapeVotes(1, 0)}, [problem(1)])
        async with self.opened() as store:
            await store.put([source("a"), source("b")])
            await store.note({"a": report, "b": report})
            await store.remove("a")
            await store.note({"a": report, "b": report})
            await store.put([source("a")])
            a, b = await store.statistics(["a", "b"])
            assert a == BoardStatistics()
            assert b.counts == {"pages": 2}

    async def test_the_last_problems_are_kept_each_once(self) -> None:
        async with self.opened() as store:
            await store.put([source()])
            await store.note({"news": BoardReport(problems=[problem(n) for n in range(30)])})
            again = BoardProblem(problem(25).url, problem(25).what, 100)
            other = BoardProblem(problem(25).url, "a login page", 99)
            await store.note({"news": BoardReport(problems=[again, other, problem(25)])})
            [told] = await store.statistics(["news"])
            assert len(told.problems) == MAX_PROBLEMS
            assert list(told.problems[:4]) == [again, other, problem(29), problem(28)]
            assert problem(25) not in told.problems

    async def test_problems_are_not_kept_at_any_length(self) -> None:
        long = BoardProblem("https://example.org/" + "a" * 10_000, "不" * 10_000, 1)
        async with self.opened() as store:
            await store.put([source()])
            await store.note({"news": BoardReport(problems=[long])})
            [told] = await store.statistics(["news"])
            assert told.problems[0].what == "不" * MAX_TEXT
            assert len(told.problems[0].url) < 2_100

    async def test_shapes_that_were_not_met_for_longest_are_forgotten(self) -> None:
        vote = ShapeVotes(1, 0)
        async with self.opened() as store:
            await store.put([source()])
            for start in range(0, MAX_SHAPES, 100):
                shapes = {f"h/{n}": vote for n in range(start, start + 100)}
                await store.note({"news": BoardReport(votes=shapes)})
                self.clock.advance(1)
            [told] = await store.statistics(["news"])
            assert len(told.votes) == MAX_SHAPES
            await store.note({"news": BoardReport(votes={"h/5": vote})})
            self.clock.advance(1)
            await store.note({"news": BoardReport(votes={"h/new": vote})})
            [told] = await store.statistics(["news"])
            assert len(told.votes) == KEPT_SHAPES
            assert told.votes["h/5"] == ShapeVotes(2, 0)
            assert {"h/new", f"h/{MAX_SHAPES - 1}"} <= told.votes.keys()
            assert "h/6" not in told.votes

    async def test_a_report_of_very_many_shapes_keeps_the_bound(self) -> None:
        votes = {f"h/{n}": ShapeVotes(0, 1) for n in range(3 * MAX_SHAPES)}
        async with self.opened() as store:
            await store.put([source()])
            await store.note({"news": BoardReport(votes=votes)})
            [told] = await store.statistics(["news"])
            assert len(told.votes) == KEPT_SHAPES

    async def test_several_have_the_store_open_at_once(self) -> None:
        async def work(number: int) -> None:
            async with self.opened() as store:
                for _ in range(10):
                    await store.note({"news": BoardReport({"pages": 1}, {"h/N": ShapeVotes(1, 1)})})
                    await store.put([source(f"b{number}")])
                    await store.boards()

        async with self.opened() as store:
            await store.put([source()])
            await asyncio.gather(*map(work, range(5)))
            [told] = await store.statistics(["news"])
            assert told.counts == {"pages": 50}
            assert told.votes == {"h/N": ShapeVotes(50, 50)}
            assert await store.revision() == 6
            assert len(await store.boards()) == 6

    async def test_without_a_clock_it_is_now(self) -> None:
        async with self.make() as store:
            await store.put([source()])
            await store.note({"news": BoardReport({"pages": 1})})
            [board] = await store.boards()
            [told] = await store.statistics(["news"])
            assert 1_600_000_000_000 < board.added_at_ms <= told.noted_at_ms


class TestSqliteBoardStore(BoardStoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "job" / BOARDS_FILE

    def make(self, clock: Clock | None = None) -> BoardStore:
        return SqliteBoardStore(self.path, clock)

    async def test_what_is_confirmed_survives_kill_9(self) -> None:
        """A process that does nothing but change boards dies at any instruction."""
        code = f"""
import asyncio, itertools
from pathlib import Path
from weft.boards.board import Board, BoardSource
from weft.boards.store import BoardReport, open_board_store

async def main():
    async with open_board_store(Path({str(self.path.parent)!r}), "job") as store:
        for number in itertools.count():
            await store.put([BoardSource(Board("a", ("https://a/",), depth=number), "")])
            await store.note({{"a": BoardReport({{"pages": 1, "articles": 1}})}})
            print(number, flush=True)

asyncio.run(main())
"""
        lines = await asyncio.to_thread(lines_until_killed, code, 20)
        confirmed = int(lines[-1])
        async with self.opened() as store:
            [board] = await store.boards()
            assert board.board.depth - confirmed in (0, 1)
            [told] = await store.statistics(["a"])
            assert told.counts["pages"] == told.counts["articles"]
            assert told.counts["pages"] - 1 - confirmed in (0, 1)
            await store.put([source()])

    async def test_a_file_of_another_program_is_left_alone(self) -> None:
        self.path.parent.mkdir()
        with sqlite3.connect(self.path) as other:
            other.execute("CREATE TABLE mine (a)")
        other.close()
        before = self.path.read_bytes()
        with pytest.raises(StoreError, match="belongs to another program"):
            async with self.opened():
                pass
        assert self.path.read_bytes() == before

    async def test_a_file_that_is_no_database_is_told(self) -> None:
        self.path.parent.mkdir()
        self.path.write_bytes(b"no database" * 1000)
        with pytest.raises(StoreError, match="is not a file of boards"):
            async with self.opened():
                pass

    async def test_a_newer_format_is_told(self) -> None:
        async with self.opened():
            pass
        with sqlite3.connect(self.path) as file:
            file.execute("PRAGMA user_version = 9")
        file.close()
        with pytest.raises(StoreFormatError, match="upgrade Weft"):
            async with self.opened():
                pass

    async def test_a_board_of_a_newer_weft_is_told_by_name(self) -> None:
        async with self.opened() as store:
            await store.put([source()])
        with sqlite3.connect(self.path) as file:
            newer = pack_board(source().board)[:-1] + ',"telepathy":true}'
            file.execute("UPDATE boards SET board = ?", (newer,))
        file.close()
        async with self.opened() as store:
            with pytest.raises(StoreFormatError, match=r"the board news in .*telepathy.*remove"):
                await store.boards()
            assert await store.remove("news")
            assert await store.boards() == []

    async def test_the_place_of_an_embedded_job_is_its_directory(self) -> None:
        async with open_board_store(self.path.parent, "job") as store:
            await store.put([source()])
        assert self.path.exists()


class TestRedisBoardStore(BoardStoreContract):
    SETUP: ClassVar[str] = "redis"

    @pytest.fixture(autouse=True)
    def _place(self, servers: Servers) -> Iterator[None]:
        with emptied(servers.get(self.SETUP)) as kit:
            self.kit: Kit = kit
            yield

    def make(self, clock: Clock | None = None) -> BoardStore:
        return RedisBoardStore(self.kit.url, "job", clock)

    async def test_a_removed_board_leaves_no_key_behind(self) -> None:
        report = BoardReport({"pages": 1}, {"h/N": ShapeVotes(1, 0)}, [problem(1)])
        async with self.opened() as store:
            await store.put([source()])
            await store.note({"news": report})
            assert len(all_keys(self.kit)) == 8
            await store.remove("news")
        own = ["weft:{job}:boards:noted", "weft:{job}:boards:revision"]
        assert all_keys(self.kit) == ["weft:boards", *own]

    async def test_forgotten_statistics_leave_no_key_behind(self) -> None:
        report = BoardReport({"pages": 1}, {"h/N": ShapeVotes(1, 0)}, [problem(1)])
        async with self.opened() as store:
            await store.put([source()])
            before = all_keys(self.kit)
            await store.note({"news": report})
            await store.forget_statistics()
        assert all_keys(self.kit) == sorted([*before, "weft:{job}:boards:noted"])

    async def test_jobs_have_their_own_boards(self) -> None:
        async with self.opened() as store, open_board_store(self.kit.url, "other") as other:
            await store.put([source()])
            assert await other.boards() == []

    async def test_reporters_that_are_gone_are_forgotten(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limits = msgspec.msgpack.encode(NoteLimits(max_reporters=3, patience_ms=1_000))
        monkeypatch.setattr("weft.boards.store.redis._LIMITS", limits)
        report = {"news": BoardReport({"pages": 1})}
        for _ in range(6):
            self.clock.advance(600)
            async with self.opened() as store:
                await store.put([source()])
                await store.note(report)
        async with self.opened() as store:
            [told] = await store.statistics(["news"])
        assert told.counts == {"pages": 6}
        assert fields_of(self.kit, "weft:{job}:boards:noted") <= 3


async def test_a_report_counts_once_if_the_answer_to_it_is_lost(redis_server: RedisServer) -> None:
    async with LossyLink(redis_server.port) as link, store_at(link) as store:
        await store.put([source()])
        await store.note({"news": BoardReport({"pages": 1})})
        link.loses_next = True
        await store.note({"news": BoardReport({"pages": 10}, problems=[problem(1)])})
        assert not link.loses_next
        await store.note({"news": BoardReport({"pages": 100})})
        [told] = await store.statistics(["news"])
    assert told.counts == {"pages": 111}


async def test_a_server_that_is_not_there_is_told_soon(redis_server: RedisServer) -> None:
    async with LossyLink(redis_server.port) as link:
        url = f"redis://me:secret@127.0.0.1:{link.port}/0"
    with pytest.raises(StoreError, match="does not answer") as raised:
        async with open_board_store(url, "job", is_brief=True):
            pass
    assert "secret" not in str(raised.value)


class LossyLink:
    """Passes everything on to a Redis on this machine, and loses an answer when it is told to."""

    def __init__(self, port: int) -> None:
        self._to_port = port
        #: With its connection.
        self.loses_next = False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1")
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, commands = await asyncio.open_connection("127.0.0.1", self._to_port)
        with closing(writer), closing(commands):
            await asyncio.gather(
                self._pass_on(reader, commands), self._pass_on(answers, writer, may_lose=True)
            )

    async def _pass_on(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        *,
        may_lose: bool = False,
    ) -> None:
        while data := await source.read(65_536):
            if may_lose and self.loses_next:
                self.loses_next = False
                break
            target.write(data)
        target.close()


def store_at(link: LossyLink) -> RedisBoardStore:
    return RedisBoardStore(f"redis://127.0.0.1:{link.port}/0", "job")


class TestClusterBoardStore(TestRedisBoardStore):
    SETUP = "cluster"

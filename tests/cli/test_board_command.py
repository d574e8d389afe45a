"""`weft board`: files are checked, boards are added, listed, shown, paused and removed."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from running import Weft
from servers import Servers, emptied
from weft.boards.board import board_schema
from weft.boards.store import BoardProblem, BoardReport, open_board_store

NEWS = """# Our news
name: news
entries:
  - https://example.org/news/  # the front page
  - https://example.org/sport/
"""


class Boards:
    """`weft board` on one store."""

    def __init__(self, weft: Weft, place: Path | str, *options: str) -> None:
        self.weft = weft
        self.place = place
        self._options = options

    def run(self, *words: str, fails: bool = False) -> str:
        """Standard output; of a command that fails, standard error."""
        done = self.weft("board", *words, *self._options)
        assert done.returncode == int(fails), done.stderr
        return done.stderr if fails else done.stdout

    def list(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.run("list", "--json"))
        return rows

    def show(self, name: str) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self.run("show", name, "--json"))
        return shown

    def note(self, name: str, report: BoardReport) -> None:
        """As a crawl does."""

        async def note() -> None:
            async with open_board_store(self.place, "boards") as store:
                await store.note({name: report})

        asyncio.run(note())


@pytest.fixture(params=["embedded", "redis"])
def boards(request: pytest.FixtureRequest, weft: Weft, servers: Servers) -> Iterator[Boards]:
    if request.param == "embedded":
        yield Boards(weft, weft.directory / ".weft/boards")
        return
    with emptied(servers.get("redis")) as kit:
        yield Boards(weft, kit.url, "--store", kit.url)


@pytest.fixture
def news(weft: Weft) -> Path:
    path = weft.directory / "news.yaml"
    path.write_text(NEWS)
    return path


def test_a_board_is_added_changed_paused_and_removed(boards: Boards, news: Path) -> None:
    assert "There are no boards in" in boards.run("list")
    assert boards.run("add", "news.yaml") == "news is added.\n"
    assert boards.run("add", "news.yaml") == "news is unchanged.\n"
    news.write_text(NEWS + "depth: 1\n")
    assert boards.run("add", "news.yaml") == "news is changed.\n"
    assert boards.show("news")["board"]["depth"] == 1
    assert boards.run("pause", "news").startswith("news is paused.")
    assert [row["state"] for row in boards.list()] == ["paused"]
    assert boards.run("resume", "news") == "news continues.\n"
    assert [row["state"] for row in boards.list()] == ["active"]
    assert boards.run("remove", "news", "--yes") == "Removed news.\n"
    assert boards.list() == []


def test_a_crawl_of_a_paused_board_says_so(weft: Weft, news: Path) -> None:
    news.write_text("name: news\nentries: [http://127.0.0.1:1/]\n")
    weft("board", "add", "news.yaml", "--job", "news")
    weft("board", "pause", "news")
    done = weft("crawl", "news.yaml")
    assert "The board news is paused; `weft board resume news` continues it." in done.stderr


def test_boards_are_listed_with_what_became_of_them(boards: Boards, news: Path) -> None:
    other = news.with_name("other.yaml")
    other.write_text("name: other\nentries: [https://example.com/]\n")
    boards.run("add", "news.yaml", "other.yaml")
    problem = BoardProblem("https://example.org/sport/", "status 404\nfor an hour", 1_000)
    boards.note("news", BoardReport({"pages": 1234, "articles": 56}, problems=[problem]))
    row, quiet = boards.list()
    assert row | {"active_at_ms": 0} == {
        "name": "news",
        "job": "boards",
        "entries": ["https://example.org/news/", "https://example.org/sport/"],
        "state": "active",
        "pages": 1234,
        "articles": 56,
        "problems": 1,
        "active_at_ms": 0,
    }
    assert row["active_at_ms"] > 1_600_000_000_000
    assert (quiet["name"], quiet["pages"], quiet["active_at_ms"]) == ("other", 0, 0)
    table = boards.run("list")
    assert "https://example.org/news/ and 1 more" in table
    assert "1,234" in table
    assert "never" in table


def test_a_board_is_shown_with_its_text_statistics_and_problems(boards: Boards, news: Path) -> None:
    boards.run("add", "news.yaml")
    problem = BoardProblem("https://example.org/sport/", "a login page\ninstead of a list", 1_000)
    boards.note("news", BoardReport({"pages": 1234}, problems=[problem]))
    text = boards.run("show", "news")
    assert text.startswith(NEWS)
    rest = text.removeprefix(NEWS).splitlines()
    assert all(line.startswith("# ") for line in rest)
    assert rest[0].startswith("# active; added: ")
    assert rest[1] == "# pages 1,234"
    assert rest[3].endswith("https://example.org/sport/: a login page instead of a list")
    news.write_text(text)
    assert boards.weft("board", "check", "news.yaml").returncode == 0


def test_nothing_that_others_wrote_reaches_the_terminal_as_commands(weft: Weft) -> None:
    boards = Boards(weft, weft.directory / ".weft/boards")
    entries = ["https://example.org/[/b]:smile:", "https://example.org/[red]"]
    text = json.dumps({"name": "news", "entries": entries})
    (weft.directory / "news.yaml").write_text(f"{text}  # [/b] :smile:\n")
    boards.run("add", "news.yaml")
    problem = BoardProblem("https://example.org/[/b]", "status\x1b[31m 404\r\x9b1m :smile:", 1_000)
    boards.note("news", BoardReport(problems=[problem]))
    assert f"{entries[0]} and 1 more" in boards.run("list")
    shown = boards.run("show", "news")
    assert "# [/b] :smile:" in shown
    assert "https://example.org/[/b]: status [31m 404" in shown
    assert not set(shown) & set("\x1b\r\x9b")
    (weft.directory / "bad.yaml").write_text('"na\\e[31mme": x\n')
    assert "\x1b" not in boards.run("check", "bad.yaml", fails=True)


def test_an_unknown_board_is_told_with_the_known_ones(boards: Boards, news: Path) -> None:
    for command in ("show", "pause", "resume", "remove"):
        words = (command, "news", *(["--yes"] if command == "remove" else []))
        assert "there are no boards in" in boards.run(*words, fails=True)
    boards.run("add", "news.yaml")
    for command in ("show", "pause", "resume", "remove"):
        words = (command, "nwes", *(["--yes"] if command == "remove" else []))
        assert "did you mean news?" in boards.run(*words, fails=True)
    assert "there are: news" in boards.run("show", "xyz", fails=True)
    boards.run("add", "news.yaml", "--job", "mine")
    told = boards.run("show", "xyz", fails=True)
    assert "there is no board xyz in any job; there are: news" in told


def test_looking_makes_no_files(weft: Weft) -> None:
    weft("board", "list")
    weft("board", "show", "news")
    assert list(weft.directory.iterdir()) == []


def test_removing_asks_first(weft: Weft, news: Path) -> None:
    weft("board", "add", "news.yaml")
    asked = weft("board", "remove", "news")  # there is nobody to answer
    assert asked.returncode == 1
    assert "Remove the board news from .weft/boards?" in asked.stdout
    assert "news" in weft("board", "list").stdout


def test_check_tells_all_mistakes_of_all_files(weft: Weft, news: Path) -> None:
    first, second = weft.directory / "a.yaml", weft.directory / "b.yaml"
    first.write_text("name: a\nentries: [example.org]\ndepht: 2\n")
    second.write_text("name: b\nentries: [https://example.org/]\nfollow: ['(']\n")
    done = weft("board", "check", "a.yaml", "news.yaml", "b.yaml", "c.yaml")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines[:3]] == [
        "a.yaml:2:11",
        "a.yaml:3:1",
        "b.yaml:3:10",
    ]
    assert lines[3:] == ["c.yaml cannot be read: No such file or directory; name another file"]
    assert done.stdout == "news.yaml: board news with 2 entries, no mistakes\n"


def test_nothing_is_added_if_one_file_has_a_mistake(weft: Weft, news: Path) -> None:
    (weft.directory / "b.yaml").write_text("name: b\n")
    assert weft("board", "add", "news.yaml", "b.yaml").returncode == 1
    assert json.loads(weft("board", "list", "--json").stdout) == []


def test_a_file_without_end_is_told(weft: Weft) -> None:
    done = weft("board", "check", "/dev/zero")
    assert done.stderr == "/dev/zero:1:1: the file has more than 1,000,000 bytes; split it\n"


def test_two_files_may_not_have_one_name(weft: Weft, news: Path) -> None:
    (weft.directory / "b.yaml").write_text(NEWS)
    done = weft("board", "check", "news.yaml", "b.yaml", "news.yaml")
    assert done.stderr == (
        "b.yaml:1:1: name: news.yaml has the name news, too; rename one of them\n"
    )


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        ("articles.txt", "choose a file that ends in .db"),
        ("warc://raw", "give this address to weft crawl with -o"),
        ("mongodb://me:hush@db", "sinks[1]: "),
        ("nosuch://me:hush@db/x", "items cannot go to 'nosuch://***@db/x'"),
    ],
)
def test_sinks_are_checked_and_passwords_not_repeated(
    weft: Weft, news: Path, sink: str, words: str
) -> None:
    news.write_text(f"{NEWS}sinks: ['{sink}']\n")
    done = weft("board", "check", "news.yaml")
    assert done.returncode == 1
    assert done.stderr.startswith("news.yaml:6:9: sinks[1]: ")
    assert words in done.stderr
    assert "hush" not in done.stdout + done.stderr


def test_passwords_of_sinks_are_stored_and_never_shown(boards: Boards, news: Path) -> None:
    sinks = "sinks: [a.jsonl, 'mongodb://me:hush@db/news/articles']\n# mysql://me:hush@db/x\n"
    news.write_text(NEWS + sinks)
    boards.run("add", "news.yaml")
    for words in (["list"], ["list", "--json"], ["show", "news"], ["show", "news", "--json"]):
        assert "hush" not in boards.run(*words)
    assert "mongodb://***@db/news/articles" in boards.run("show", "news")

    async def stored() -> tuple[str, ...]:
        async with open_board_store(boards.place, "boards") as store:
            [found] = await store.boards()
        return found.board.sinks

    assert asyncio.run(stored())[1] == "mongodb://me:hush@db/news/articles"


def test_boards_of_all_jobs_are_found(boards: Boards, news: Path) -> None:
    boards.run("add", "news.yaml", "--job", "mine")
    assert [(row["name"], row["job"]) for row in boards.list()] == [("news", "mine")]
    assert boards.show("news")["job"] == "mine"
    assert "There are no boards in" in boards.run("list", "--job", "others")
    # Which one is meant has to be said if there are several.
    boards.run("add", "news.yaml")
    told = boards.run("pause", "news", fails=True)
    assert "several jobs have a board news: boards, mine; name one with --job" in told
    boards.run("pause", "news", "--job", "mine")
    states = {row["job"]: row["state"] for row in boards.list()}
    assert states == {"boards": "active", "mine": "paused"}


def test_the_schema_is_printed_as_json(weft: Weft) -> None:
    assert json.loads(weft("board", "schema").stdout) == json.loads(json.dumps(board_schema()))


def test_a_store_that_is_not_there_is_told_soon_without_its_password(weft: Weft) -> None:
    done = weft("board", "list", "--store", "redis://me:hush@127.0.0.1:1/0", timeout=30)
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr
    assert "hush" not in done.stderr

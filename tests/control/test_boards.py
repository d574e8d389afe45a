"""Boards over the API: what `weft board` does, and changes that do not overwrite each other."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from launchers.redis import RedisServer
from masters import Asker, MasterProcess, asking, check_problem, contents
from running import Weft
from weft.boards.board import board_schema

NEWS = "name: news\nentries:\n  - https://example.org/news/\n"
YAML = {"Content-Type": "application/yaml"}
HOME = "/jobs/boards/boards"


def put(ask: Asker, text: str, name: str = "news", **headers: str) -> httpx.Response:
    told = {key.replace("_", "-"): value for key, value in headers.items()}
    return ask("PUT", f"{HOME}/{name}", content=text.encode(), headers=YAML | told)


def told_by_cli(weft: Weft, server: RedisServer, *words: str) -> Any:
    ended = weft("board", *words, "--json", "--store", server.url)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_a_board_lives_through_the_api_as_through_the_command(
    ask: Asker, weft: Weft, redis_server: RedisServer
) -> None:
    added = put(ask, NEWS)
    assert (added.status_code, added.json()["status"]) == (201, "added")
    assert put(ask, NEWS).json()["status"] == "unchanged"
    changed = put(ask, NEWS + "depth: 1\n")
    assert (changed.status_code, changed.json()["status"]) == (200, "changed")

    shown = ask.get(f"{HOME}/news")
    assert shown == told_by_cli(weft, redis_server, "show", "news")
    assert shown["text"] == NEWS + "depth: 1\n"
    assert ask.get(HOME) == {"items": told_by_cli(weft, redis_server, "list"), "next": None}

    for verb, state in (("pause", "paused"), ("pause", "paused"), ("resume", "active")):
        assert ask.status("POST", f"{HOME}/news/{verb}") == 204
        assert ask.get(f"{HOME}/news")["state"] == state
    assert ask.status("DELETE", f"{HOME}/news") == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")):
        told = check_problem(ask(method, f"{HOME}/news{path}"), 404)
        assert "there are no boards in boards" in told["detail"]
    assert ask.get(HOME)["items"] == []


def test_what_another_has_changed_is_not_overwritten(ask: Asker) -> None:
    first = put(ask, NEWS, If_None_Match="*")
    assert first.status_code == 201
    check_problem(put(ask, NEWS + "depth: 1\n", If_None_Match="*"), 412)
    etag = ask("GET", f"{HOME}/news").headers["etag"]
    assert etag == first.headers["etag"]
    second = put(ask, NEWS + "depth: 1\n", If_Match=etag)
    assert second.status_code == 200

    late = put(ask, NEWS + "depth: 2\n", If_Match=etag)
    told = check_problem(late, 412)
    assert "was changed meanwhile" in told["detail"]
    assert late.headers["etag"] == second.headers["etag"]
    assert ask.get(f"{HOME}/news")["board"]["depth"] == 1
    # Sent again, because the answer was lost.
    assert put(ask, NEWS + "depth: 1\n", If_Match=etag).json()["status"] == "unchanged"

    # Paused or removed is changed, too.
    ask("POST", f"{HOME}/news/pause")
    check_problem(put(ask, NEWS, If_Match=second.headers["etag"]), 412)
    ask("DELETE", f"{HOME}/news")
    told = check_problem(put(ask, NEWS, If_Match=second.headers["etag"]), 412)
    assert "there is no board news any more" in told["detail"]


@pytest.mark.parametrize("headers", [{"If_Match": "3"}, {"If_Match": "*"}, {"If_None_Match": "3"}])
def test_a_condition_that_is_not_understood_is_refused(ask: Asker, headers: dict[str, str]) -> None:
    check_problem(put(ask, NEWS, **headers), 422)
    check_problem(put(ask, NEWS, If_Match='"1"', If_None_Match="*"), 400)
    check_problem(ask("DELETE", f"{HOME}/news", headers={"If-Match": '"1"'}), 400)
    assert ask.get(HOME)["items"] == []


def test_all_mistakes_are_told_and_nothing_is_stored(ask: Asker) -> None:
    wrong = "name: news\nentries: [ftp://example.org/]\ndepht: 3\nsinks: [what]\n"
    answers = (
        put(ask, wrong),
        ask("POST", "/board-check", content=wrong.encode(), headers=YAML),
    )
    for answer in answers:
        mistakes = check_problem(answer, 422)["mistakes"]
        assert [mistake.split(": ")[0] for mistake in mistakes] == [
            *("board:2:11", "board:3:1", "board:4:9")
        ]
    [mistake] = check_problem(put(ask, NEWS, "other"), 422)["mistakes"]
    assert "the text calls it news, and the address other" in mistake
    assert ask.get(HOME)["items"] == []


@pytest.mark.parametrize(
    "text", ["", "[", "- a", "name: a\x00b", "\xff", "a: " + "[" * 2_000, "a: " + "{" * 100_000]
)
def test_what_is_no_board_is_a_mistake(ask: Asker, text: str) -> None:
    content = text.encode("latin-1")
    for kind in ("application/yaml", "application/json"):
        answer = ask("POST", "/board-check", content=content, headers={"Content-Type": kind})
        assert check_problem(answer, 422)["mistakes"]


def test_a_board_may_come_as_json(ask: Asker) -> None:
    """As programs write it: with tabs, and with two codes for a character."""
    board = {"name": "news", "entries": ["https://example.org/"], "follow": ["/\U0001f600/"]}
    text = json.dumps(board, indent="\t")
    assert ask("PUT", f"{HOME}/news", json=board).status_code == 201
    answer = ask(
        "PUT",
        f"{HOME}/other",
        content=text.replace('"news"', '"other"').encode(),
        headers={"Content-Type": "application/json; charset=utf-8"},
    )
    assert answer.status_code == 201, answer.text
    assert ask.get(f"{HOME}/other")["board"]["follow"] == ["/\U0001f600/"]
    twice = ask(
        "POST",
        "/board-check",
        content=b'{"name": "a", "name": "b"}',
        headers={"Content-Type": "application/json"},
    )
    assert "'name' is there twice" in check_problem(twice, 422)["mistakes"][0]


def test_what_is_too_long_or_of_another_kind_is_refused(ask: Asker) -> None:
    check_problem(put(ask, NEWS + "#" * 250_000), 413)
    answer = ask(
        "PUT", f"{HOME}/news", content=NEWS.encode(), headers={"Content-Type": "image/png"}
    )
    check_problem(answer, 415)


def test_the_schema_and_a_check_need_no_store(ask: Asker) -> None:
    assert ask.get("/board-schema") == json.loads(json.dumps(board_schema()))
    checked = ask("POST", "/board-check", content=NEWS.encode(), headers=YAML)
    assert checked.json() == {"name": "news", "entries": ["https://example.org/news/"]}


def test_a_list_is_told_in_pages(ask: Asker) -> None:
    names = [f"n{number}" for number in range(7)]
    for name in names:
        assert put(ask, NEWS.replace("news\n", f"{name}\n"), name).status_code == 201
    pages = ask.pages(HOME, limit=3)
    assert [[row["name"] for row in page] for page in pages] == [names[:3], names[3:6], names[6:]]
    # What is removed meanwhile does not shift the rest.
    first = ask.get(HOME, limit=3)
    ask("DELETE", f"{HOME}/n2")
    ask("DELETE", f"{HOME}/n3")
    rest = ask.get(HOME, limit=3, cursor=first["next"])
    assert [row["name"] for row in rest["items"]] == ["n4", "n5", "n6"]
    for wrong in (
        {"limit": 0},
        {"limit": 501},
        {"limit": "x"},
        {"cursor": "x"},
        {"cursor": "MQ=="},
    ):
        assert check_problem(ask("GET", HOME, params=wrong), 422)["mistakes"]


def test_secrets_of_sinks_are_only_in_the_text_of_their_board(
    ask: Asker,
    running_master: MasterProcess,
    tokens: dict[str, str],
    redis_server: RedisServer,
) -> None:
    secret = "gUmMi-bAum"
    sinks = (
        f"  - mongodb://user:{secret}@db.example/news/articles\n"
        f"  - mysql://user:{secret}@db.example/news/articles\n"
    )
    text = f"{NEWS}# mongodb://user:{secret}@old.example/\nsinks:\n{sinks}"
    answers = [
        put(ask, text),
        put(ask, text, If_None_Match="*"),
        put(ask, text + "foo: 1\n"),
        put(ask, text, "other"),
        put(ask, text + f"  - s3://key:{secret}@bucket/prefix?secret={secret}\n"),
        put(ask, text + f"  - mongodb:/user:{secret}@db.example/x\n"),
        put(ask, text + f"  - mongodb://user:{secret}@db.example/\n"),
        ask("POST", "/board-check", content=text.encode(), headers=YAML),
    ]
    paths = (HOME, f"{HOME}/news", "/jobs", "/audit", "/nodes", "/openapi.json")
    answers += [ask("GET", path) for path in paths]
    with asking(running_master.address, tokens["read"]) as reader:
        answers += [reader("GET", path) for path in paths]
        answers.append(put(reader, text))
    told = "".join(f"{answer.text} {answer.headers}" for answer in answers)
    assert "db.example" in told
    assert secret not in told, told[max(0, told.find(secret) - 300) :][:400]
    stored = contents(redis_server)
    assert [key for key, value in stored.items() if secret in value] == ["weft:{boards}:boards"]
    assert not [key for key in stored if secret in key]
    running_master.send(15)
    assert secret not in "".join(map(str, running_master.ended()))


def test_a_board_of_the_command_is_the_same_board(
    ask: Asker, weft: Weft, redis_server: RedisServer, tmp_path: Path
) -> None:
    (tmp_path / "news.yaml").write_text(NEWS)
    assert weft("board", "add", "news.yaml", "--store", redis_server.url).returncode == 0
    assert put(ask, NEWS).json()["status"] == "unchanged"

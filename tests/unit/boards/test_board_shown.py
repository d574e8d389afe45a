"""The text of a board is shown without the passwords of its sinks."""

import pytest
import yaml

from weft.boards.board import shown_text

HEAD = "name: news  # ours\nentries: ['https://example.org/@me:too/']\n"


def hide(address: str) -> str:
    return "mongodb://***@db/news" if "secret" in address else address


@pytest.mark.parametrize(
    "sinks",
    [
        "sinks: [a.jsonl, mongodb://me:secret@db/news]\n",
        "sinks:\n  - a.jsonl\n  - 'mongodb://me:secret@db/news'  # there\n",
        'sinks: ["a.jsonl", "mongodb://me:\\x73ecret@db/news"]\n',
        "sinks:\n- a.jsonl\n- >-\n  mongodb://me:secret@db/news\n",
        "'sinks': [&x a.jsonl, mongodb://me:se'secret@db/news]\n",
    ],
)
def test_only_passwords_are_hidden(sinks: str) -> None:
    shown = shown_text(f"{HEAD}{sinks}depth: 2\n", hide)
    assert "secret" not in shown
    assert shown.startswith(HEAD)
    assert yaml.safe_load(shown) == {
        "name": "news",
        "entries": ["https://example.org/@me:too/"],
        "sinks": ["a.jsonl", "mongodb://***@db/news"],
        "depth": 2,
    }


def test_a_password_that_stands_there_twice_is_hidden_twice() -> None:
    shown = shown_text(f"{HEAD}sinks: [&x mongodb://me:secret@db/news, *x]", hide)
    assert shown.count("***@db") == 1
    assert "secret" not in shown


def test_passwords_in_comments_are_hidden() -> None:
    text = f"{HEAD}# sinks: [mysql://root:secret@db/x, postgresql://me:se/cr@et@db/x]\n"
    assert shown_text(text, hide) == f"{HEAD}# sinks: [mysql://***@db/x, postgresql://***@db/x]\n"


def test_a_text_without_passwords_is_shown_as_it_is() -> None:
    text = f"{HEAD}\nsinks: [\n  a.jsonl,  # b\n]\n"
    assert shown_text(text, hide) == text

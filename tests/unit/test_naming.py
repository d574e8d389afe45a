"""A job is named by its spider and the spider's arguments."""

from datetime import date
from pathlib import Path

import pytest

from weft.config import job_name
from weft.engine.naming import name_by_directory, name_job


def test_without_arguments_it_has_the_name_of_its_spider() -> None:
    assert name_job("books", {}) == "books"
    assert name_job("books", {"_job": "what Scrapyd says"}) == "books"


def test_the_order_of_arguments_does_not_matter() -> None:
    assert name_job("books", {"a": "1", "b": "2"}) == name_job("books", {"b": "2", "a": "1"})


DIFFERENT: list[tuple[dict[str, object], tuple[object, ...]]] = [
    ({}, ()),
    ({"category": "a"}, ()),
    ({"category": "b"}, ()),
    ({"category": "A"}, ()),
    ({"categories": "a"}, ()),
    ({"category": ""}, ()),
    ({"category": None}, ()),
    ({"category": ["a"]}, ()),
    ({"category": {"a": 1}}, ()),
    ({"category": {"a", "b"}}, ()),
    ({"category": {"a", "c"}}, ()),
    ({"category": date(2026, 1, 1)}, ()),
    ({"category": date(2026, 1, 2)}, ()),
    ({"category": "a", "page": "2"}, ()),
    ({}, ("a",)),
    ({}, ("a", "b")),
    ({}, ("b", "a")),
]


def test_other_arguments_make_another_job() -> None:
    names = [name_job("books", arguments, *more) for arguments, more in DIFFERENT]
    assert len(set(names)) == len(names)


def test_a_script_and_a_command_line_name_the_same_job() -> None:
    assert name_job("books", {"page": 2}) == name_job("books", {"page": "2"})


def test_an_object_has_the_same_name_in_the_next_run() -> None:
    given = [{"clients": [object()], "options": {1: object(), "a": 2}} for _ in range(2)]
    first, second = (name_job("books", each) for each in given)
    assert first == second


def test_no_argument_can_be_read_from_the_name() -> None:
    name = name_job("members", {"password": "hush"})
    assert "hush" not in name
    assert name == job_name(name)  # valid for keys and directories


@pytest.mark.parametrize(
    ("job_dir", "name"),
    [
        ("crawls/books", "books"),
        ("crawls/books-1", "books-1"),
        ("bookshop", "books-bookshop"),
        ("state", "books-state"),
        ("crawls/state/", "books-state"),
    ],
)
def test_a_jobdir_names_the_job_in_a_shared_store(job_dir: str, name: str) -> None:
    assert name_by_directory("books", Path(job_dir)) == name

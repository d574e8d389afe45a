import errno
import inspect
import re
import sqlite3
from pathlib import Path

import pytest

from weft import errors
from weft.errors import PackError, StoreError, StoreFullError, WeftError, store_error


def drawn_tree() -> dict[str, str]:
    """Class → its parent, as the docstring of the module draws them."""
    assert errors.__doc__ is not None
    parents: dict[str, str] = {}
    stack: list[tuple[int, str]] = []
    for line in errors.__doc__.splitlines():
        if match := re.match(r"([│├└─ ]*)(\w+Error)\b", line):
            indent, name = len(match[1]), match[2]
            stack = [(i, n) for i, n in stack if i < indent]
            parents[name] = stack[-1][1] if stack else "Exception"
            stack.append((indent, name))
    return parents


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    classes = [
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__
    ]
    assert drawn_tree() == {cls.__name__: cls.__mro__[1].__name__ for cls in classes}


def test_every_error_is_explained() -> None:
    assert all(vars(errors)[name].__doc__ for name in drawn_tree())


def test_pack_error_names_request_field_and_problem() -> None:
    error = PackError("<GET http://h/>", "meta['x']", "is a file")
    assert str(error) == "cannot store <GET http://h/>: meta['x'] is a file"
    assert (error.field, error.problem) == ("meta['x']", "is a file")
    assert isinstance(error, WeftError)


@pytest.mark.parametrize(
    "problem",
    [
        OSError(errno.ENOSPC, "whatever"),
        OSError(errno.EDQUOT, "whatever"),
        sqlite3.OperationalError("database or disk is full"),
        Exception("IO error: No space left on device: While appending to file"),
    ],
)
def test_full_disk_is_told_with_its_cure(problem: Exception) -> None:
    error = store_error("/data/job", problem)
    assert type(error) is StoreFullError
    assert "/data/job" in str(error)
    assert "free some space" in str(error)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system"),
        (Exception("Permission denied (os error 13)"), "Permission denied (os error 13)"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_with_its_cure(
    problem: Exception, reason: str, tmp_path: Path
) -> None:
    error = store_error(str(tmp_path / "job" / "frontier"), problem)
    assert type(error) is StoreError
    assert f"/job/frontier cannot be used: {tmp_path} cannot be written ({reason})" in str(error)
    assert "run this in another directory" in str(error)
    assert "--store, -o or JOBDIR" in str(error)


@pytest.mark.parametrize(
    "problem", [OSError(errno.EIO, "Input/output error"), Exception("Corruption: bad block")]
)
def test_other_problems_keep_their_words(problem: Exception) -> None:
    error = store_error("/data/job", problem)
    assert type(error) is StoreError
    cure = "fix that, or choose another place with --store or -o"
    assert str(error) == f"/data/job cannot be used: {problem}; {cure}"

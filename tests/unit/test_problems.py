"""How errors are answered."""

import msgspec
import pytest

from weft.control.problems import MistakesError, ProblemAnswer, problem_of
from weft.errors import (
    ConfigError,
    EngineError,
    LostNodeError,
    NotObeyedError,
    NotThereError,
    StoreError,
    StoreLockedError,
    StoreMissingError,
    TargetError,
    WeftError,
)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (ConfigError, 400),
        (NotThereError, 404),
        (StoreMissingError, 404),
        (LostNodeError, 409),
        (TargetError, 422),
        (EngineError, 500),
        (StoreError, 503),
        (StoreLockedError, 503),
        (NotObeyedError, 504),
    ],
)
def test_an_error_has_the_status_that_fits(kind: type[WeftError], status: int) -> None:
    answer = problem_of(kind("what to do"))
    assert (answer.status_code, answer.media_type) == (status, "application/problem+json")
    told = msgspec.json.decode(answer.body, type=ProblemAnswer)
    assert (told.status, told.detail, told.mistakes) == (status, "what to do", [])


def test_mistakes_are_told_one_by_one() -> None:
    answer = problem_of(MistakesError("two are there", ["one", "two"]))
    told = msgspec.json.decode(answer.body, type=ProblemAnswer)
    assert (told.status, told.title, told.mistakes) == (422, "Unprocessable Entity", ["one", "two"])

from collections.abc import Mapping
from typing import Any

import pytest
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
)

from weft.errors import SinkDownError, StoreError, StoreFullError
from weft.sinks.mongodb.address import parse_address
from weft.sinks.mongodb.problems import errors_of, is_known_id, reason, write_errors

ADDRESS = parse_address("mongodb://me:secret@host:1/d/c")


def translated(problem: PyMongoError) -> StoreError:
    with pytest.raises(StoreError) as caught, errors_of(ADDRESS):
        raise problem
    assert "secret" not in str(caught.value)
    return caught.value


def in_batch(**details: list[Mapping[str, Any]]) -> BulkWriteError:
    return BulkWriteError({"writeErrors": [], "writeConcernErrors": [], **details})


@pytest.mark.parametrize(
    "problem",
    [
        AutoReconnect("connection closed"),
        NetworkTimeout("timed out"),
        NotPrimaryError("not primary"),
        ServerSelectionTimeoutError("refused, Timeout: 5.0s, Topology Description: <…>"),
        ExecutionTimeout("operation exceeded time limit", 50),
        OperationFailure("shutdown in progress", 91),
        OperationFailure("interrupted", 11602),
    ],
)
def test_a_server_that_is_away_may_come_back(problem: PyMongoError) -> None:
    told = translated(problem)
    assert isinstance(told, SinkDownError)
    assert str(told).startswith("MongoDB at host:1 cannot be reached: ")
    assert "Topology" not in str(told)


def test_an_error_that_the_server_calls_passing_is() -> None:
    problem = OperationFailure("who knows", 424242, {"errorLabels": ["RetryableWriteError"]})
    assert isinstance(translated(problem), SinkDownError)


@pytest.mark.parametrize(
    ("problem", "cure"),
    [
        (OperationFailure("Authentication failed.", 18), "check the name and the password"),
        (
            OperationFailure("bad auth : authentication failed", 8000),
            "check the name and the password",
        ),
        (OperationFailure("not authorized", 13), "readWrite"),
        (ConfigurationError("The DNS query name does not exist"), "check the address"),
        (OperationFailure("something else", 1), "choose another place"),
    ],
)
def test_what_does_not_pass_names_its_cure(problem: PyMongoError, cure: str) -> None:
    told = translated(problem)
    assert not isinstance(told, SinkDownError)
    assert cure in str(told)


def test_a_full_disk_is_told_as_such() -> None:
    assert isinstance(translated(OperationFailure("no space", 14031)), StoreFullError)
    with pytest.raises(StoreFullError):
        write_errors(in_batch(writeErrors=[{"index": 0, "code": 14031}]), ADDRESS)


def test_a_write_that_is_not_confirmed_is_tried_again() -> None:
    problem = in_batch(writeConcernErrors=[{"code": 64, "errmsg": "waiting timed out"}])
    with pytest.raises(SinkDownError, match="waiting timed out"):
        write_errors(problem, ADDRESS)


def test_items_pay_only_for_their_own_faults() -> None:
    refused = {"index": 0, "code": 121, "errmsg": "Document failed validation"}
    assert write_errors(in_batch(writeErrors=[refused]), ADDRESS) == [refused]
    for code, kind in ((189, SinkDownError), (13, StoreError)):
        fault = {"index": 1, "code": code, "errmsg": "no"}
        with pytest.raises(kind):
            write_errors(in_batch(writeErrors=[refused, fault]), ADDRESS)


def test_a_reason_says_which_rule_and_is_short() -> None:
    error = {"errmsg": "failed", "errInfo": {"details": {"rule": "x" * 10_000}}}
    assert reason(error).startswith("failed: {'rule': 'xxx")
    assert len(reason(error)) == 500


def test_only_an_equal_id_means_that_the_item_is_known() -> None:
    assert is_known_id({"code": 11000, "keyPattern": {"_id": 1}})
    assert not is_known_id({"code": 11000, "keyPattern": {"url": 1}})
    assert not is_known_id({"code": 121})

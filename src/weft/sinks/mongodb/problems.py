"""Turns errors of MongoDB into our own: server down, login failed, item refused."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
)

from weft.errors import SinkDownError, StoreError, StoreFullError, store_error
from weft.sinks.mongodb.address import MongoAddress

DUPLICATE_KEY = 11000
OUT_OF_DISK_SPACE = 14031
UNAUTHORIZED = 13
#: MongoDB's own code, and that of Atlas, which also has other meanings.
_AUTHENTICATION_FAILED = 18
_ATLAS = 8000

#: The server is starting, stopping, electing a primary, busy, or cut off from its peers.
_PASSING = frozenset(
    {
        6,  # HostUnreachable
        7,  # HostNotFound
        24,  # LockTimeout
        46,  # LockBusy
        50,  # MaxTimeMSExpired
        64,  # WriteConcernFailed
        89,  # NetworkTimeout
        91,  # ShutdownInProgress
        100,  # UnsatisfiableWriteConcern
        112,  # WriteConflict
        133,  # FailedToSatisfyReadPreference
        175,  # QueryPlanKilled, by a dropped collection or index
        189,  # PrimarySteppedDown
        202,  # NetworkInterfaceExceededTimeLimit
        216,  # ElectionInProgress
        225,  # TransactionTooOld: an earlier attempt of this write arrived after a later one
        262,  # ExceededTimeLimit
        9001,  # SocketException
        10058,  # LegacyNotPrimary
        10107,  # NotWritablePrimary
        11600,  # InterruptedAtShutdown
        11601,  # Interrupted
        11602,  # InterruptedDueToReplStateChange
        13388,  # StaleConfig
        13435,  # NotPrimaryNoSecondaryOk
        13436,  # NotPrimaryOrSecondary
    }
)
#: Length limit for the server's own message.
MAX_REASON_CHARACTERS = 500


@contextmanager
def errors_of(address: MongoAddress) -> Iterator[None]:
    """Turn errors inside into a `StoreError` about `address`."""
    try:
        yield
    except PyMongoError as problem:
        raise _translated(problem, address) from problem


def write_errors(problem: BulkWriteError, address: MongoAddress) -> list[Mapping[str, Any]]:
    """Return the errors of the documents that were not stored; raise if no document is at fault."""
    details: Mapping[str, Any] = problem.details or {}
    for error in details.get("writeConcernErrors", ()):
        # Everything is written, but may be lost with the server.
        raise _down(address, error.get("errmsg", "the write is not confirmed"))
    errors: list[Mapping[str, Any]] = details.get("writeErrors", [])
    for error in errors:
        _raise_unless_refused(error, address)
    return errors


def reason(error: Mapping[str, Any]) -> str:
    """Why a document was refused."""
    text = str(error.get("errmsg", "MongoDB does not say why"))
    details = error.get("errInfo", {}).get("details")
    return (f"{text}: {details}" if details else text)[:MAX_REASON_CHARACTERS]


def is_known_id(error: Mapping[str, Any]) -> bool:
    """Whether a document has this `_id`, rather than the same value in another unique index."""
    pattern = error.get("keyPattern", {"_id": 1})
    return error.get("code") == DUPLICATE_KEY and list(pattern) == ["_id"]


def lacks_rights(address: MongoAddress, rights: str) -> StoreError:
    who = f"user {address.user!r}" if address.user else "a client without user and password"
    return StoreError(
        f"MongoDB at {address.host} does not let {who} {rights} in {address.database}."
        f"{address.collection}; give the user the role readWrite on {address.database}, or name "
        "another user: mongodb://user:password@host/…"
    )


def _raise_unless_refused(error: Mapping[str, Any], address: MongoAddress) -> None:
    code, text = error.get("code"), reason(error)
    if code in _PASSING:
        raise _down(address, text)
    if code == OUT_OF_DISK_SPACE:
        raise _full(address)
    if code in (UNAUTHORIZED, _ATLAS):
        raise store_error(address.place, StoreError(text))


def _translated(problem: PyMongoError, address: MongoAddress) -> StoreError:
    text = _short(problem)
    if isinstance(problem, ConnectionFailure | ExecutionTimeout) or _is_passing(problem):
        return _down(address, text)
    if isinstance(problem, ConfigurationError):  # from DNS, for mongodb+srv
        return StoreError(f"{address.place} cannot be used: {text}; check the address")
    code = problem.code if isinstance(problem, OperationFailure) else None
    if code == OUT_OF_DISK_SPACE:
        return _full(address)
    if code == _AUTHENTICATION_FAILED or (code == _ATLAS and "auth" in text):
        return _not_let_in(address, text)
    if code == UNAUTHORIZED:
        return lacks_rights(address, f"do that ({text})")
    return store_error(address.place, StoreError(text))


def _is_passing(problem: PyMongoError) -> bool:
    if problem.has_error_label("RetryableWriteError"):
        return True
    return isinstance(problem, OperationFailure) and problem.code in _PASSING


def _short(problem: PyMongoError) -> str:
    """Without the server lists and the full reply that PyMongo appends."""
    text = str(problem).partition(", Timeout: ")[0].partition(", full error: ")[0]
    return text[:MAX_REASON_CHARACTERS]


def _down(address: MongoAddress, text: str) -> SinkDownError:
    return SinkDownError(
        f"MongoDB at {address.host} cannot be reached: {text}; "
        "check that it is running and that the address is right"
    )


def _full(address: MongoAddress) -> StoreFullError:
    return StoreFullError(
        f"no space left on the disk of MongoDB at {address.host}; nothing is lost: free some "
        "space, then run the same command again"
    )


def _not_let_in(address: MongoAddress, text: str) -> StoreError:
    return StoreError(
        f"MongoDB at {address.host} does not let user {address.user!r} in ({text}); check the name "
        "and the password, in which @ is written as %40, / as %2F and so on, and the database that "
        f"the user was created in: {address.database}, unless the address ends in "
        "?authSource=admin or the like"
    )

"""What MongoDB says, in our words: a server that is away, one that does not let us in, an item that
it does not take."""

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
from weft.sinks.mongodb.address import Address

DUPLICATE_KEY = 11000
OUT_OF_DISK_SPACE = 14031
UNAUTHORIZED = 13
#: MongoDB's own, and the one of Atlas, which has other meanings too.
_AUTHENTICATION_FAILED = 18
_ATLAS = 8000

#: The server is starting, ending, electing a primary, busy, or out of reach of its peers.
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
        225,  # TransactionTooOld: an earlier attempt of this write came after a later one
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
#: As much of the server's own words as helps.
MAX_REASON_CHARACTERS = 500


@contextmanager
def errors_of(address: Address) -> Iterator[None]:
    """What fails inside leaves as a `StoreError` about `address`."""
    try:
        yield
    except PyMongoError as problem:
        raise _translated(problem, address) from problem


def write_errors(problem: BulkWriteError, address: Address) -> list[Mapping[str, Any]]:
    """Which documents of a batch were not stored; raises if that is the fault of none."""
    details: Mapping[str, Any] = problem.details or {}
    for error in details.get("writeConcernErrors", ()):
        # All is written, but may be lost with the server.
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
    """Whether there is a document with this `_id`, rather than an equal value in another index."""
    pattern = error.get("keyPattern", {"_id": 1})
    return error.get("code") == DUPLICATE_KEY and list(pattern) == ["_id"]


def lacks_rights(address: Address, rights: str) -> StoreError:
    who = f"user {address.user!r}" if address.user else "somebody without a name and password"
    return StoreError(
        f"MongoDB at {address.host} does not let {who} {rights} in {address.database}."
        f"{address.collection}; give the user the role readWrite on {address.database}, or name "
        "another user: mongodb://user:password@host/…"
    )


def _raise_unless_refused(error: Mapping[str, Any], address: Address) -> None:
    code, text = error.get("code"), reason(error)
    if code in _PASSING:
        raise _down(address, text)
    if code == OUT_OF_DISK_SPACE:
        raise _full(address)
    if code in (UNAUTHORIZED, _ATLAS):
        raise store_error(address.place, StoreError(text))


def _translated(problem: PyMongoError, address: Address) -> StoreError:
    text = _short(problem)
    if isinstance(problem, ConnectionFailure | ExecutionTimeout) or _is_passing(problem):
        return _down(address, text)
    if isinstance(problem, ConfigurationError):  # what DNS says of mongodb+srv
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
    """Without the lists of servers and the whole answer, which PyMongo appends."""
    text = str(problem).partition(", Timeout: ")[0].partition(", full error: ")[0]
    return text[:MAX_REASON_CHARACTERS]


def _down(address: Address, text: str) -> SinkDownError:
    return SinkDownError(
        f"MongoDB at {address.host} cannot be reached: {text}; "
        "check that it runs and that the address is right"
    )


def _full(address: Address) -> StoreFullError:
    return StoreFullError(
        f"no space left on the disk of MongoDB at {address.host}; nothing is lost: free some "
        "space, then run the same command again"
    )


def _not_let_in(address: Address, text: str) -> StoreError:
    return StoreError(
        f"MongoDB at {address.host} does not let user {address.user!r} in ({text}); check name and "
        "password, written with %40 for @ and the like, and the database that the user was made "
        f"in: {address.database} unless the address ends in ?authSource=admin or another"
    )

"""What the errors of a database mean, and how we report them."""

from abc import ABC, abstractmethod
from enum import Enum, auto

from sqlalchemy.exc import DBAPIError

from weft.errors import SinkDownError, StoreError
from weft.sinks.sql.dialect import SqlDialect


class Trouble(Enum):
    """What to do about an error of a database."""

    #: It cannot be reached: try again when it is back.
    DOWN = auto()
    #: Another client was in the way: try again at once.
    BUSY = auto()
    #: The table has changed: look again.
    STALE = auto()
    #: It will never accept this row.
    REFUSED = auto()
    #: We are not allowed to do this.
    DENIED = auto()
    #: Anything else: the crawl cannot continue.
    OTHER = auto()


class TroubleError(Exception):
    """An error of the database, and what to do about it. It does not leave the sink."""

    def __init__(self, trouble: Trouble, text: str, cause: BaseException) -> None:
        super().__init__(text)
        self.trouble = trouble
        self.cause = cause


class SqlProblems(ABC):
    #: Error codes.
    wrong_password: frozenset[object] = frozenset()
    unknown_database: frozenset[object] = frozenset()

    def __init__(self, dialect: SqlDialect) -> None:
        self.dialect = dialect
        self.address = dialect.address

    def trouble(self, problem: BaseException) -> Trouble:
        """Classify an error."""
        # What does not come from the database is a network error or a timeout. SQLAlchemy knows
        # whether the connection broke.
        if not isinstance(problem, DBAPIError) or problem.connection_invalidated:
            return Trouble.DOWN
        return self._trouble(problem)

    def text_of(self, problem: BaseException) -> str:
        """The database's message without SQLAlchemy's additions: a statement may be very long."""
        origin = getattr(problem, "orig", None) or problem
        arguments = origin.args
        text = str(arguments[-1] if arguments else origin) or type(origin).__name__
        return text.partition("\n")[0]

    def store_error(self, problem: TroubleError, right: str) -> StoreError:
        """The error for the user; `right` is the right that was needed."""
        address = self.address
        if problem.trouble is Trouble.DOWN:
            hint = "; check ?ssl= in its address" if "SSL" in str(problem) else ""
            return SinkDownError(
                f"{address.title} at {address.server} cannot be reached: {problem}{hint}"
            )
        if problem.trouble is Trouble.BUSY:
            return SinkDownError(f"{address.place} is busy: {problem}")
        if problem.trouble is Trouble.DENIED:
            return StoreError(
                f"{address.title} at {address.server} does not let {address.user or 'us'} use "
                f"{address.place}: {problem}; {self._cure(problem.cause, right)}"
            )
        return self._better_error(problem.cause) or StoreError(
            f"{address.place} cannot be used: {problem}; put that right, or choose another output "
            "with -o"
        )

    def _cure(self, problem: BaseException, right: str) -> str:
        """What to do when the login fails or a right is missing."""
        code = self._code(problem) if isinstance(problem, DBAPIError) else None
        if code in self.wrong_password:
            return "check the user and the password in the address"
        if code in self.unknown_database:
            return f"create it: CREATE DATABASE {self.dialect.quoted(self.address.database)}"
        or_else = ", or crawl with --schema strict" if right == "ALTER" else ""
        return f"ask an administrator to run: {self._grant(right)}{or_else}"

    @abstractmethod
    def _trouble(self, problem: DBAPIError) -> Trouble:
        """Classify an error that the database itself has reported."""

    @abstractmethod
    def _code(self, problem: DBAPIError) -> object:
        """The number or name of an error."""

    @abstractmethod
    def _grant(self, right: str) -> str:
        """The statement by which an administrator grants us a right."""

    def _better_error(self, problem: BaseException) -> StoreError | None:
        """A more precise error than the general one, if there is one."""
        return None

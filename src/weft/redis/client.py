"""The client for Redis in any form: one server, Sentinel, Cluster, a socket.

`Client.run` sends a batch of commands and waits for all replies. If the server is down, loading,
out of memory or read-only, it retries with a growing pause and logs a message now and then; the
caller only sees a delay. A command whose reply was lost is sent again, so commands must be safe to
run twice.
"""

import asyncio
import logging
import math
import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Self
from weakref import WeakSet

from redis import exceptions
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisError, ResponseError

from weft.clock import monotonic_s
from weft.errors import StoreError
from weft.redis.address import connect, shown
from weft.redis.compat import check_redis

logger = logging.getLogger(__name__)

#: A command and its arguments.
Command = tuple[Any, ...]

#: How long a server may be down before we give up.
DEFAULT_PATIENCE_S = 600.0
#: The same for interactive commands: a mistake is reported soon, a restart is tolerated.
SHORT_PATIENCE_S = 3.0
#: Timeout for one reply.
TIMEOUT_S = 10.0
#: Time between two messages about a server that is down.
REMIND_S = 30.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0

# Errors that pass by themselves.
_AWAY = (
    OSError,
    exceptions.BusyLoadingError,
    exceptions.ClusterDownError,
    exceptions.ConnectionError,
    exceptions.MasterDownError,
    exceptions.RedisClusterException,  # no node can be reached
    exceptions.TimeoutError,
    exceptions.TryAgainError,
)
# Connection errors to redis-py, but waiting does not help.
_REFUSED = (
    exceptions.AuthenticationError,
    exceptions.AuthorizationError,
    exceptions.MaxConnectionsError,
)
# Errors that an operator has to fix, by the first word of the reply.
_HELD = {
    "OOM": "is out of memory; give it more, or free some",
    "READONLY": "is read-only; make it a master, or name the master",
    "MISCONF": "cannot write to its disk; free some space there",
    "NOREPLICAS": "lacks its replicas",
}


#: Whether the commands being sent are only meant for the server that we know. redis-py silently
#: reconnects when a connection is lost.
_is_bound: ContextVar[bool] = ContextVar("is_bound", default=False)


class Client:
    """Construction does no I/O; `async with` opens and closes."""

    def __init__(
        self, url: str, *, patience_s: float = DEFAULT_PATIENCE_S, timeout_s: float = TIMEOUT_S
    ) -> None:
        check_redis()
        self._place = shown(url)
        self._patience_s = patience_s
        self._sources: dict[str, str] = {}
        self._run_ids: set[str] = set()
        self._redis, self._sentinels = connect(url, self._greet, timeout_s)
        self._server_up_s = -math.inf
        #: How often a different server has answered.
        self.restarts = 0
        #: How often replies were lost: it is then unknown whether the commands were executed.
        self.losses = 0

    @property
    def server_age_s(self) -> float:
        """How long the server that answered last has been up."""
        return monotonic_s() - self._server_up_s

    async def __aenter__(self) -> Self:
        _hush(asyncio.get_running_loop())
        try:
            await self._run([("PING",)], patience_s=min(SHORT_PATIENCE_S, self._patience_s))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for redis in (self._redis, *self._sentinels):
            await redis.aclose()

    def know(self, sources: Mapping[str, str]) -> None:
        """Add scripts by their SHA-1, for servers that do not have them yet."""
        self._sources.update(sources)

    async def run(self, commands: Sequence[Command], *, is_bound: bool = False) -> list[Any]:
        """Return the replies in the order of the commands. Raises StoreError.

        `is_bound`: they only make sense to the server that got the previous ones. If another one
        answers, commands without a reply are not sent again; their reply is None.
        """
        return await self._run(commands, patience_s=self._patience_s, is_bound=is_bound)

    async def _run(
        self, commands: Sequence[Command], *, patience_s: float, is_bound: bool = False
    ) -> list[Any]:
        answers: list[Any] = [None] * len(commands)
        left = list(range(len(commands)))
        restarts = self.restarts
        wait = _Wait(self._place, patience_s)
        while left:
            got = await self._send([commands[i] for i in left], is_bound=is_bound)
            problems = []
            again = []
            for i, answer in zip(left, got, strict=True):
                answers[i] = answer
                if isinstance(answer, BaseException):
                    again.append(i)
                    problems.append(answer)
            left = again
            if is_bound and self.restarts != restarts:
                for i in left:
                    answers[i] = None
                break
            if problems:
                await self._overcome(problems, wait)
        wait.end()
        return answers

    async def _overcome(self, problems: Iterable[BaseException], wait: "_Wait") -> None:
        """Wait, if that may help; otherwise raise."""
        is_waiting = False
        for problem in problems:
            if isinstance(problem, NoScriptError):
                continue
            reason = _reason(problem)
            if reason is None:
                raise _translate(self._place, problem) from problem
            if not is_waiting:
                is_waiting = True
                await wait.pause(reason, problem)
        if not is_waiting:
            await self._load_scripts()

    async def _send(self, commands: Sequence[Command], *, is_bound: bool) -> list[Any]:
        _is_bound.set(is_bound)
        cancelled_before = _cancellations()
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                answers = list(await pipeline.execute(raise_on_error=False))
        except (RedisError, *_AWAY) as problem:
            answers = [problem] * len(commands)
            self.losses += 1
        if _cancellations() > cancelled_before:
            # In Python 3.11 `asyncio.wait_for`, which redis-py uses to send, sometimes swallows it.
            raise asyncio.CancelledError
        return answers

    async def _load_scripts(self) -> None:
        """Needed because a restarted server does not have our scripts."""
        for source in self._sources.values():
            try:
                await self._redis.script_load(source)
            except (RedisError, *_AWAY) as problem:
                if _reason(problem) is None:
                    raise _translate(self._place, problem) from problem
                return  # pragma: no cover - down again: the caller's next attempt will notice

    async def _greet(self, connection: AbstractConnection) -> None:
        """Check which server a new connection reaches. One that we do not know may have lost what
        another one had acknowledged."""
        _note_loss(connection)
        await connection.on_connect()
        await connection.send_command("INFO", "server")
        try:
            told = await connection.read_response()
        except ResponseError:  # no permission
            told = b"run_id:%d" % random.getrandbits(63)
        run_id = _said(told, "run_id")
        # In whole seconds: the real age may be one less.
        age_s = float(_said(told, "uptime_in_seconds") or math.inf) - 1
        self._server_up_s = monotonic_s() - max(0.0, age_s)
        is_another = bool(self._run_ids) and run_id not in self._run_ids
        self._run_ids.add(run_id)
        if is_another:
            self.restarts += 1
            if _is_bound.get():
                raise exceptions.ConnectionError("another server answers")


class _Wait:
    """The growing pauses of one call, and the messages logged meanwhile."""

    def __init__(self, place: str, patience_s: float) -> None:
        self._place = place
        self._patience_s = patience_s
        self._pause_s = _FIRST_PAUSE_S
        self._since_s: float | None = None
        self._told_s: float | None = None

    async def pause(self, reason: str, problem: BaseException) -> None:
        now_s = monotonic_s()
        if self._since_s is None:
            self._since_s = now_s
        is_loading = isinstance(problem, exceptions.BusyLoadingError)
        if now_s - self._since_s >= self._patience_s and not is_loading:
            raise StoreError(
                f"{self._place} {reason} ({_text(problem)}); nothing is lost: fix that, then run "
                "the same command again"
            ) from problem
        self._tell(reason, problem, now_s)
        await asyncio.sleep(self._pause_s * random.uniform(0.5, 1.0))
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    def _tell(self, reason: str, problem: BaseException, now_s: float) -> None:
        is_short = self._patience_s <= SHORT_PATIENCE_S  # the error itself comes soon
        if not is_short and (self._told_s is None or now_s - self._told_s >= REMIND_S):
            self._told_s = now_s
            logger.warning(
                "%s %s (%s); the crawl waits, nothing is lost", self._place, reason, _text(problem)
            )

    def end(self) -> None:
        if self._told_s is not None and self._since_s is not None:
            away_s = monotonic_s() - self._since_s
            logger.warning("%s is back after %.1f s; the crawl continues", self._place, away_s)


_hushed: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

# What recently ended our connections.
_losses: deque[BaseException | None] = deque(maxlen=32)


def _note_loss(connection: AbstractConnection) -> None:
    """Record the error that ends this connection."""
    reader: Any = getattr(connection, "_reader", None)
    if reader is None:  # pragma: no cover - redis-py has just connected it
        return
    set_exception = reader.set_exception

    def note(problem: BaseException) -> None:
        _losses.append(problem)
        set_exception(problem)

    reader.set_exception = note


def _hush(loop: asyncio.AbstractEventLoop) -> None:
    """Keep asyncio from logging a traceback for a lost connection of ours.

    If it is lost just when its writer is cancelled, it leaves a future whose exception is never
    retrieved. `Client` reports lost connections itself.
    """
    if loop in _hushed:
        return
    _hushed.add(loop)
    before = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if problem is not None and any(problem is loss for loss in _losses):
            return
        if before is not None:
            before(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


def _cancellations() -> int:
    """How often the running task was asked to cancel."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


def _reason(problem: BaseException) -> str | None:
    """Why waiting may help; None if it will not."""
    if isinstance(problem, _REFUSED):
        return None
    if isinstance(problem, _AWAY):
        return "does not answer"
    words = str(problem).split()
    if isinstance(problem, exceptions.OutOfMemoryError):
        return _HELD["OOM"]
    if isinstance(problem, exceptions.ReadOnlyError):
        return _HELD["READONLY"]
    if words and words[0] in _HELD:
        return _HELD[words[0]]
    # An error inside a script has that word in the middle.
    return next((reason for word, reason in _HELD.items() if word in words), None)


def _translate(place: str, problem: BaseException) -> StoreError:
    cure = "fix that, or choose another place with --store"
    return StoreError(f"{place} cannot be used: {_text(problem)}; {cure}")


def _text(problem: BaseException) -> str:
    return str(problem) or type(problem).__name__


def _said(info: object, what: str) -> str:
    text = info.decode(errors="replace") if isinstance(info, bytes) else str(info)
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == what:
            return value
    return ""

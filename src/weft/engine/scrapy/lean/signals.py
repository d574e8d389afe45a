"""Signals that cost next to nothing without receivers, and no tasks with receivers.

Scrapy sends eight signals a page, and starts a task for each receiver of some of them.
"""

import asyncio
import logging
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

from pydispatch import dispatcher
from pydispatch.robustapply import robustApply
from scrapy.signalmanager import SignalManager
from scrapy.utils import signal as scrapy_signal
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from weft.engine.scrapy.listeners import is_heard

logger = logging.getLogger(scrapy_signal.__name__)


class LeanSignals(SignalManager):
    """Sends to the receivers that any manager of the same sender has connected."""

    def send_catch_log(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return super().send_catch_log(signal, **kwargs) if is_heard(self.sender, signal) else []

    async def send_catch_log_async(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Receivers that return at once cost no task; the others are awaited."""
        if not is_heard(self.sender, signal):
            return []
        dont_log = kwargs.pop("dont_log", ())  # an exception class, or several
        sent = {"sender": self.sender} | kwargs | {"signal": signal}
        calls = [
            _Call(receiver, sent, dont_log)
            for receiver in dispatcher.liveReceivers(
                dispatcher.getAllReceivers(sent["sender"], signal)
            )
        ]
        if waiting := [call for call in calls if call.is_waiting]:
            # What a receiver waits for may be cancelled: that must not end us.
            ends = (call.end() for call in waiting)
            for call, problem in zip(
                waiting, await asyncio.gather(*ends, return_exceptions=True), strict=True
            ):
                call.result = problem or call.result
        return [(call.receiver, call.result) for call in calls]


class _Call:
    """One receiver, and what it returned or raised."""

    def __init__(self, receiver: Any, sent: dict[str, Any], dont_log: Any) -> None:
        self.receiver = receiver
        self._spider = sent.get("spider")
        self._dont_log = tuple(dont_log) if isinstance(dont_log, Sequence) else dont_log
        try:
            self.result = robustApply(receiver, **sent)
        except Exception as problem:
            self._fail(problem)

    @property
    def is_waiting(self) -> bool:
        return isinstance(self.result, Deferred) or isawaitable(self.result)

    async def end(self) -> None:
        name = global_object_name(self.receiver)
        try:
            self.result = await ensure_awaitable(self.result, _warn=name)
        except Exception as problem:
            self._fail(problem)

    def _fail(self, problem: Exception) -> None:
        self.result = problem
        if not isinstance(problem, self._dont_log):
            logger.error(
                "Error caught on signal handler: %(receiver)s",
                {"receiver": self.receiver},
                exc_info=problem,
                extra={"spider": self._spider},
            )

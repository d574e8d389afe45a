"""Ends work on a page that takes too long.

Libraries that read pages have no time limit, and no size of a page says how long they take. So a
timer interrupts the thread that works, wherever it is in Python code.
"""

import _thread
import ctypes
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class _TooLateError(BaseException):
    """Raised in the thread that works. Not an Exception: libraries catch those and go on."""


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """The result of `work`; raises TimeoutError if it takes longer than that."""
    interruption = _Interruption(seconds)
    try:
        try:
            interruption.start()  # it may come at once
            return work()
        finally:
            interruption.withdraw()
    except _TooLateError:
        raise TimeoutError(f"it took longer than {seconds:g} s") from None


class _Interruption:
    """An exception that is raised in this thread after a time, unless it is withdrawn."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._thread = _thread.get_ident()
        # Held while the exception is set, so that none is set after `withdraw`.
        self._lock = _thread.allocate_lock()
        self._is_withdrawn = False
        # Held until the interruption is withdrawn.
        self._running = _thread.allocate_lock()

    def start(self) -> None:
        self._running.acquire()
        # Not a Thread: Python keeps a weak reference to those, and ignores what is raised while it
        # clears one.
        _thread.start_new_thread(self._interrupt, ())

    def withdraw(self) -> None:
        with self._lock:
            self._is_withdrawn = True
        self._running.release()

    def _interrupt(self) -> None:
        if self._running.acquire(timeout=max(0.0, self._seconds)):
            return
        with self._lock:
            if not self._is_withdrawn:
                error = ctypes.py_object(_TooLateError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), error)

"""Ends work on a page that takes too long.

Libraries that read pages have no time limit, and no size of a page says how long they take. So a
watcher interrupts the thread that works, wherever it is in Python code.

Python ignores what is raised in some places, such as `__del__`. The watcher waits until the thread
has left them, but not for ever, and so an interruption may be lost. Then the next one comes soon.
Work that ends before its interruption comes was too long all the same.

There is one watcher in a process, because Python 3.11 may interrupt a thread that is just being
started in place of the one that starts it. It sleeps until the first work could be too late, so a
limit that is not reached costs next to nothing.
"""

import _thread
import ctypes
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

from weft.clock import monotonic_s

#: How soon an interruption is repeated if the work goes on. Work that ends needs less time to clean
#: up, so nothing that it does then is interrupted.
REPEAT_S = 0.1
#: How long an interruption waits if Python would ignore it now.
PATIENCE_S = 0.1
#: How soon the watcher looks again whether Python would still ignore it.
GLANCE_S = 0.001

Result = TypeVar("Result")


class _TooLateError(BaseException):
    """Raised in the thread that works. Not an Exception: libraries catch those and go on."""


class _Watched:
    """Something that a thread does."""

    def __init__(self, interrupt_at_s: float) -> None:
        self.thread = ctypes.c_ulong(_thread.get_ident())
        self.interrupt_at_s = interrupt_at_s


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """The result of `work`; raises TimeoutError if it takes longer than that."""
    _interrupter.start()
    end_s = monotonic_s() + seconds
    watched, works = _Watched(end_s), _interrupter.works
    number = id(watched)
    try:
        try:
            _interrupter.watch(watched)
            result = work()
        finally:
            # Python looks for interruptions in calls of its own code, and after others. So none
            # comes before both steps are done, and one that was too late for the first comes then.
            watched.thread.value = 0
            works.pop(number, None)
        if monotonic_s() <= end_s:
            return result
    except _TooLateError:
        pass
    raise TimeoutError(f"it took longer than {seconds:g} s")


class _Interrupter:
    """A thread that interrupts others.

    Its methods take no lock: they may be interrupted themselves, also just after they got it.
    """

    def __init__(self) -> None:
        self._process = 0
        #: What is being done, by id.
        self.works: dict[int, _Watched] = {}
        # When the watcher looks again by itself.
        self._looks_at_s = inf
        self._bell = _thread.allocate_lock()
        self._starting = _thread.allocate_lock()

    def start(self) -> None:
        """Called before any work of a thread, so nothing interrupts it."""
        if self._process == os.getpid():
            return
        with self._starting:
            if self._process != os.getpid():  # a child has no thread of its parent
                self.works.clear()
                self._bell = _thread.allocate_lock()
                # Not a Thread: those are joined when Python ends.
                _thread.start_new_thread(self._run, ())
                self._process = os.getpid()

    def watch(self, work: _Watched) -> None:
        self.works[id(work)] = work
        if work.interrupt_at_s < self._looks_at_s:
            self._ring()

    def _ring(self) -> None:
        with suppress(RuntimeError):  # it rings already
            self._bell.release()

    def _run(self) -> None:
        while True:
            self._looks_at_s = inf  # whoever comes from now on rings
            first_s = min((self._look(work) for work in list(self.works.values())), default=inf)
            self._looks_at_s = first_s
            wait_s = first_s - monotonic_s()
            self._bell.acquire(timeout=max(0.0, min(wait_s, _thread.TIMEOUT_MAX)))

    def _look(self, work: _Watched) -> float:
        """Interrupt a work that is late. When to look at it again."""
        if work.interrupt_at_s > (now_s := monotonic_s()):
            return work.interrupt_at_s
        if now_s < work.interrupt_at_s + PATIENCE_S and _is_deaf(work.thread.value):
            return now_s + GLANCE_S
        # The number is read and used in one step. No thread has number 0.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(work.thread, _RAISED)
        work.interrupt_at_s = now_s + REPEAT_S
        return work.interrupt_at_s


def _is_deaf(thread: int) -> bool:
    """Whether a thread is where Python ignores what is raised: in a finalizer, or in what is called
    when garbage is collected."""
    heard_by = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in heard_by:
            return True
        frame = frame.f_back
    return False


_RAISED = ctypes.py_object(_TooLateError)
_interrupter = _Interrupter()

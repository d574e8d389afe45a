"""One file with all items. It is written again each time and replaces the old one.

The file is rendered from a snapshot of the journal into a scratch file (fsync), its stamp is
recorded in the journal, it replaces the output atomically, and the journal records what it shows.
So at every moment there is no output, the old one or the new one, and never half of one. A process
that dies in between loses nothing: the journal says that it is ahead of the output, and the next
process to show renders again.

A file that is not ours is never replaced: `find` returns a stamp that the journal does not know.
"""

import os
from functools import partial
from math import inf
from pathlib import Path

from weft.clock import Clock, SystemClock
from weft.errors import StoreError
from weft.sinks.disk.errors import errors_of
from weft.sinks.files.base import Destination
from weft.sinks.files.formats import Render
from weft.sinks.files.journal import Journal
from weft.sinks.files.showing import ShowLock
from weft.sinks.files.state import STATE_TABLES, ExportState, Shown

#: How far the output may lag behind what is stored, while more is being stored.
SHOW_EVERY_S = 30.0
#: Rendering takes at most this share of the time.
SHOW_SHARE = 0.1


class WholeOutlet:
    every_items = inf

    def __init__(
        self,
        journal: Path,
        destination: Destination,
        render: Render,
        every_s: float = SHOW_EVERY_S,
        clock: Clock | None = None,
    ) -> None:
        self.place = destination.place
        self.every_s = every_s
        self._journal = Journal(journal, STATE_TABLES)
        self._state = ExportState(self._journal)
        self._destination = destination
        self._render = render
        self._clock = clock or SystemClock()
        self._lock = ShowLock(journal.with_suffix(".lock"))

    def open(self) -> None:
        with errors_of(self._journal.path):
            self._journal.open()
        self._destination.check()
        self._find()

    def show(self, *, is_last: bool) -> None:
        with errors_of(self._journal.path), self._lock.taken(is_patient=is_last):
            shown = self._state.shown()
            if not is_last and self._is_too_soon(shown):
                return
            # Checked even if nothing has changed: it may have been deleted.
            found = self._find()
            if not found or shown.version != self._state.version():
                self._write(found)

    def abandon(self) -> None:
        self._lock.abandon()

    def clear(self) -> None:
        with errors_of(self._journal.path), self._lock.taken(is_patient=True):
            if self._find():
                self._destination.remove()

    def close(self) -> None:
        self._journal.close()

    def _is_too_soon(self, shown: Shown) -> bool:
        """Another process that shares the journal may have shown it recently."""
        pause_ms = max(self.every_s * 1000, shown.took_ms * (1 / SHOW_SHARE - 1))
        return 0 <= self._clock.now_ms() - shown.at_ms < pause_ms

    def _find(self) -> str:
        """Return what is there; raise if it is not ours."""
        found = self._destination.find()
        if found and found not in self._state.stamps():
            raise StoreError(
                f"{self.place} already exists and was not written by this job, or has been changed "
                "since; move it away, or choose another output with -o"
            )
        return found

    def _write(self, found: str) -> None:
        begun_at_ms = self._clock.now_ms()
        try:
            version = self._write_scratch()
            self._destination.put(partial(self._state.note_next, found), self._lock.sign)
        finally:
            self._destination.scratch.unlink(missing_ok=True)
        now_ms = self._clock.now_ms()
        self._state.note_shown(Shown(version, now_ms, max(0, now_ms - begun_at_ms)))

    def _write_scratch(self) -> int:
        scratch = self._destination.scratch
        with errors_of(scratch), scratch.open("wb") as file, self._journal.snapshot():
            version = self._state.version()
            self._render(lambda: self._journal.rows(self._lock.sign_or_end), file)
            file.flush()
            os.fsync(file.fileno())
        return version

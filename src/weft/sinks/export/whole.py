"""One file that has all items. It is written anew each time, and takes the old one's place.

How it gets there: it is rendered from a snapshot of the journal into a scratch file (fsync), the
journal is told by what to know it, it is put in place at one stroke, and the journal is told what
it shows. So at every instant there is no output, the old one or the new one, and never half of
one. A process that dies in between costs nothing: the journal says that it is ahead of the output,
and whoever shows next renders again.

What is in that place and not ours is never replaced: `find` says something that the journal has
not been told.
"""

import os
from functools import partial
from math import inf
from pathlib import Path

from weft.clock import Clock, SystemClock
from weft.errors import StoreError
from weft.sinks.export.base import Place
from weft.sinks.export.formats import Render
from weft.sinks.export.journal import Journal, Shown
from weft.sinks.export.turn import Turn
from weft.sinks.translate import errors_of

#: How far the output may be behind what is stored, while more is being stored.
SHOW_EVERY_S = 30.0
#: Rendering takes at most this share of the time.
SHOW_SHARE = 0.1


class WholeOutlet:
    every_items = inf

    def __init__(
        self,
        journal: Path,
        place: Place,
        render: Render,
        every_s: float = SHOW_EVERY_S,
        clock: Clock | None = None,
    ) -> None:
        self.place = place.name
        self.every_s = every_s
        self._journal = Journal(journal)
        self._place = place
        self._render = render
        self._clock = clock or SystemClock()
        self._turn = Turn(journal.with_suffix(".lock"))

    def open(self) -> None:
        with errors_of(self._journal.path):
            self._journal.open()
        self._place.check()
        self._find()

    def show(self, *, is_last: bool) -> None:
        with errors_of(self._journal.path), self._turn.taken(is_patient=is_last):
            shown = self._journal.shown()
            if not is_last and self._is_too_soon(shown):
                return
            # Looked for even if nothing has changed: someone may have deleted it.
            found = self._find()
            if not found or shown.version != self._journal.version():
                self._write(found)

    def abandon(self) -> None:
        self._turn.abandon()

    def clear(self) -> None:
        with errors_of(self._journal.path), self._turn.taken(is_patient=True):
            if self._find():
                self._place.remove()

    def close(self) -> None:
        self._journal.close()

    def _is_too_soon(self, shown: Shown) -> bool:
        """Other processes that share the journal have shown it perhaps."""
        pause_ms = max(self.every_s * 1000, shown.took_ms * (1 / SHOW_SHARE - 1))
        return 0 <= self._clock.now_ms() - shown.at_ms < pause_ms

    def _find(self) -> str:
        """What is in the place; an error if it is not ours."""
        found = self._place.find()
        if found and found not in self._journal.stamps():
            raise StoreError(
                f"{self.place} is there already and this job has not written it, or someone has "
                "changed it since; move it away, or choose another output with -o"
            )
        return found

    def _write(self, found: str) -> None:
        begun_at_ms = self._clock.now_ms()
        try:
            version = self._write_scratch()
            self._place.put(partial(self._journal.note_next, found), self._turn.sign)
        finally:
            self._place.scratch.unlink(missing_ok=True)
        now_ms = self._clock.now_ms()
        self._journal.note_shown(Shown(version, now_ms, max(0, now_ms - begun_at_ms)))

    def _write_scratch(self) -> int:
        scratch = self._place.scratch
        with errors_of(scratch), scratch.open("wb") as file, self._journal.snapshot() as version:
            self._render(lambda: self._journal.rows(self._turn.sign_or_end), file)
            file.flush()
            os.fsync(file.fileno())
        return version

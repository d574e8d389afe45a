"""Which of the pages that wait a run visits again.

A run that watches visits each when it is due. Any other ends by itself, so it visits those that
were due when it began: lists may become due faster than they can be visited.
"""

from collections.abc import Callable


class Again:
    def __init__(self, now_s: Callable[[], float], *, is_watching: bool) -> None:
        self._now_s = now_s
        self._began_at_s = now_s()
        self.is_watching = is_watching

    @property
    def due_for_ms(self) -> int:
        """How long a page must have been due."""
        if self.is_watching:
            return 0
        return max(1, round(1000 * (self._now_s() - self._began_at_s)))

"""The progress of a crawl: a changing line on a terminal, a line now and then elsewhere."""

from typing import Self

from rich.status import Status

from weft.cli.output import count, errors, warn
from weft.reports import Progress, Rate

#: Time between two lines if there is no terminal.
PLAIN_S = 10.0


def make_display() -> "TerminalDisplay | PlainDisplay":
    return TerminalDisplay() if errors.is_terminal else PlainDisplay()


def describe(progress: Progress, pages_per_s: float) -> str:
    stats = progress.stats
    parts = [
        count(progress.pages, "page"),
        f"{pages_per_s:,.1f}/s",
        f"queue {stats.queued:,}",
        f"errors {progress.errors:,}",
        f"hosts {stats.hosts:,}",
    ]
    if stats.held:
        parts.append(f"{stats.held:,} held")
    if progress.is_stopping:
        waiting = count(stats.claimed, "request")
        parts.append(f"stopping, {waiting} in progress (Ctrl-C again: stop at once)")
    return " · ".join(parts)


class TerminalDisplay:
    def __init__(self) -> None:
        self._status = Status("starting", console=errors)
        self._rate = Rate()

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._status.stop()

    def __call__(self, progress: Progress) -> None:
        pages_per_s = self._rate.update(progress.pages, progress.elapsed_s)
        self._status.update(describe(progress, pages_per_s))


class PlainDisplay:
    def __init__(self) -> None:
        self._next_s = PLAIN_S
        self._last_pages = 0
        self._last_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def __call__(self, progress: Progress) -> None:
        if progress.elapsed_s < self._next_s:
            return
        elapsed_s = progress.elapsed_s - self._last_s
        pages_per_s = (progress.pages - self._last_pages) / elapsed_s
        self._last_pages, self._last_s = progress.pages, progress.elapsed_s
        self._next_s = progress.elapsed_s + PLAIN_S
        warn(describe(progress, pages_per_s))

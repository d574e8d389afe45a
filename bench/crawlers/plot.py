"""The plot: the cost of a page for each contestant, as bars."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.crawlers.report import Result
from weft.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS, THEIRS, LIMIT = "#d55e00", "#56b4e9", "#000000"
_OWN_NAMES = ("weft", "addon")


def draw(path: Path, results: Sequence[Result]) -> None:
    """One chart per site, the cheapest contestant on top."""
    from matplotlib.figure import Figure

    heights = [1.2 + 0.35 * max(1, len(result.rows)) for result in results]
    figure = Figure(figsize=(9, sum(heights)), dpi=120, layout="constrained")
    parts = figure.subplots(len(results), 1, squeeze=False, height_ratios=heights)
    for result, axes in zip(results, parts[:, 0], strict=True):
        _draw_bars(axes, result)
    try:
        figure.savefig(path)
    except OSError as problem:
        raise ConfigError(f"--plot {path}: {problem}; choose another place") from problem


def _draw_bars(axes: "Axes", result: Result) -> None:
    rows = sorted((row for row in result.rows if row.has_figures), key=lambda row: -row.cpu_ms)
    spots = range(len(rows))
    bars = axes.barh(spots, [row.cpu_ms for row in rows], color=[_colour(row.name) for row in rows])
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set_yticks(spots, [f"{row.label} ({row.pages:,})" for row in rows])
    axes.set(title=result.scenario.about.replace("; ", "\n"), xlabel="ms of CPU a page")
    axes.margins(x=0.12)


def _colour(name: str) -> str:
    if name == "handwritten":
        return LIMIT
    return OURS if name.startswith(_OWN_NAMES) else THEIRS

"""The figures of all contestants in one table, set by set."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from rich import box
from rich.table import Table

COLUMNS = ("body F1", "P", "R", "title", "author", "date", "kind", "links F1", "next P", "next R",
           "ms", "p95")  # fmt: skip

#: What a contestant said of each page, by set and id.
Said = Mapping[tuple[str, str], dict[str, Any]]


def table_of(score: Any, pages: Sequence[Any], said: Mapping[str, Said]) -> Table:
    """`score`: the module that knows the labels."""
    table = Table(box=box.MARKDOWN)
    table.add_column("set")
    table.add_column("reader")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for row, place in _rows(score, pages):
        for name, rows in said.items():
            cells = _cells(score, [score.Case(p, rows.get((p.set, p.id), {})) for p in place])
            if any(cell is not None for cell in cells[:-2]):
                table.add_row(row, name, *map(_shown, cells))
    return table


def _rows(score: Any, pages: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The sets and their groups, as the scorer divides them."""
    for name, cases in score.rows([score.Case(page, {}) for page in pages]):
        yield name, [case.page for case in cases]


def _cells(score: Any, cases: Sequence[Any]) -> list[float | None]:
    _, f1, precision, recall, _, _, title, _, author, _, date, _ = score.text_row(cases)
    _, _, accuracy, balanced, _, _ = score.kind_row(cases)
    _, _, _, links, _, next_precision, next_recall, _ = score.link_row(cases)
    kind = balanced if balanced is not None else accuracy
    times = [case.said["ms"] for case in cases if "ms" in case.said]
    late = quantiles(times, n=20)[-1] if len(times) > 1 else None
    middle = median(times) if times else None
    quality = [f1, precision, recall, title, author, date, kind, links]
    return [*quality, next_precision, next_recall, middle, late]


def _shown(cell: float | None) -> str:
    if cell is None:
        return "-"
    return f"{cell:.1f}" if cell > 1 else f"{cell:.3f}"

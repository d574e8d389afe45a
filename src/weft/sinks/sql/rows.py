"""Batches of items as rows of a table, and what the table lacks for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from weft.sinks.base import KeyedItem, Refusal
from weft.sinks.encoding import encode_fields
from weft.sinks.sql.columns import BOOKKEEPING, Changes, TableColumns
from weft.sinks.sql.kinds import ColumnKind, both, kind_of_type, kind_of_value, wider
from weft.sinks.sql.values import MISFIT, Forms, instant, kind_for, without_nul_escapes, written


class TableRow(NamedTuple):
    item: KeyedItem
    #: One for each column of the batch.
    values: tuple[object, ...]


class RowBatch(NamedTuple):
    #: The columns of every row, the bookkeeping first.
    columns: tuple[str, ...]
    rows: list[TableRow]
    #: Changes that the table needs before the rows can be stored.
    wishes: Changes
    #: Items that need changes that are not allowed.
    refusals: list[Refusal]


class Encoder:
    """Makes batches for a table. `is_fixed`: the columns must stay as they are."""

    def __init__(
        self, columns: TableColumns, forms: Forms, job: str, *, is_fixed: bool = False
    ) -> None:
        self._columns = columns
        self._forms = forms
        self._job = job
        self._is_fixed = is_fixed
        self._wishes = Changes({}, {})
        self._declared: dict[int, Mapping[str, type | None]] = {}

    def batch(self, items: Sequence[KeyedItem]) -> RowBatch:
        self._wishes = Changes({}, {})
        refusals: list[Refusal] = []
        encoded: list[tuple[KeyedItem, dict[str, object]]] = []
        for item in items:
            values = self._values(item)
            if self._is_fixed and self._wishes:
                refusals.append(Refusal(item, self._reason(item)))
                self._wishes = Changes({}, {})
            else:
                encoded.append((item, values))
        used = {name for _, values in encoded for name in values}
        fields = tuple(name for name in self._columns.by_name if name in used)
        columns = (*BOOKKEEPING, *fields)
        rows = [TableRow(item, tuple(map(values.get, columns))) for item, values in encoded]
        return RowBatch(columns, rows, self._wishes, refusals)

    def _values(self, item: KeyedItem) -> dict[str, object]:
        values: dict[str, object] = {
            "_key": item.key.hex(),
            "_job": self._job,
            "_page": written(ColumnKind.TEXT, item.page, self._forms),
            "_fetched_at": instant(item.fetched_at_ms, self._forms),
        }
        more: dict[str, object] = {}
        kinds = self._columns.kinds
        for name, value in item.fields.items():
            if value is None:
                continue
            kind = kinds.get(name)
            if kind is None:
                self._take_new(name, value, more)
                continue
            form = written(kind, value, self._forms)
            if form is MISFIT:
                self._take_misfit(name, kind, value, more)
            else:
                values[name] = form
        if item.declared is not None and not self._is_fixed:
            self._wish_declared(item.declared)
        if more:
            values["_more"] = self._more(more)
        return values

    def _take_new(self, name: str, value: object, more: dict[str, object]) -> None:
        if not self._columns.can_be_added(name):
            more[name] = value
            return
        self._wish_added(name, kind_for(value, self._forms))

    def _take_misfit(
        self, name: str, column: ColumnKind, value: object, more: dict[str, object]
    ) -> None:
        kind = wider(column, self._kind_of_misfit(column, value))
        if kind is column or name in self._columns.fixed:
            more[name] = value
            return
        wished = self._wishes.widened.get(name, kind)
        self._wishes.widened[name] = both(wished, kind)

    def _kind_of_misfit(self, column: ColumnKind, value: object) -> ColumnKind:
        kind = kind_for(value, self._forms)
        # A number that does not fit into a column of its own kind is stored as text.
        return ColumnKind.TEXT if kind is column or column is ColumnKind.FLOAT else kind

    def _wish_added(self, name: str, kind: ColumnKind) -> None:
        self._wishes.added[name] = both(self._wishes.added.get(name, kind), kind)

    def _wish_declared(self, declared: Mapping[str, type | None]) -> None:
        if id(declared) in self._declared:
            return
        for name, type_ in declared.items():
            kind = kind_of_type(type_) if type_ is not None else None
            if kind is ColumnKind.DECIMAL and self._forms.decimal_digits == (0, 0):
                kind = ColumnKind.TEXT
            is_new = name not in self._columns.by_name and self._columns.can_be_added(name)
            if kind is not None and is_new:
                self._wish_added(name, kind)
        if not self._wishes:  # keeps a reference, so that nothing else gets the same id
            self._declared[id(declared)] = declared

    def _more(self, more: Mapping[str, object]) -> str:
        return without_nul_escapes(encode_fields(more).decode(), self._forms)

    def _reason(self, item: KeyedItem) -> str:
        return "; ".join(self._reasons(item))

    def _reasons(self, item: KeyedItem) -> Iterator[str]:
        cure = "change the table, or crawl without --schema strict"
        for name in self._wishes.added:
            yield f"the table has no column for the field {name!r}: {cure}"
        for name in self._wishes.widened:
            column = self._columns.kinds[name].name.lower()
            kind = kind_of_value(item.fields[name])
            value = kind.name.lower() if kind else type(item.fields[name]).__name__
            yield f"the column of the field {name!r} is {column}, its value is {value}: {cure}"

"""What rules mean, however they were written."""

from collections.abc import Mapping

import msgspec

from weft.boards.fields.article import SINGULARS
from weft.boards.fields.form import Form, Way


class FieldRule(msgspec.Struct, frozen=True):
    """How one field is found."""

    name: str
    #: Tried in this order, until one finds something.
    ways: tuple[Way, ...]


class FieldRules(msgspec.Struct, frozen=True):
    """The rules of a board or file; plain data that can be stored and sent to other processes."""

    rules: tuple[FieldRule, ...] = ()


NO_RULES = FieldRules()


def rules_of(fields: Mapping[str, Form]) -> FieldRules:
    """The rules that stand under `fields:`."""
    return FieldRules(
        tuple(FieldRule(SINGULARS.get(name, name), _ways(form)) for name, form in fields.items())
    )


def _ways(form: Form) -> tuple[Way, ...]:
    forms = form if isinstance(form, list) else [form]
    return tuple(Way(css=entry) if isinstance(entry, str) else entry for entry in forms)

"""Reads pickles that hold plain data, and can do nothing else.

Anyone who can write to a Redis can write a pickle that runs any program when it is loaded, so these
are not loaded. `pickletools`, Python's own disassembler, takes a pickle apart into operations and
their arguments without performing them. The few operations that make plain data (text, bytes,
numbers, None, lists, tuples, dicts, sets) are performed here. All others are refused, above all
those that find, make or call something: GLOBAL, STACK_GLOBAL, INST, OBJ, NEWOBJ, NEWOBJ_EX, REDUCE,
BUILD, EXT1 to EXT4, PERSID and BINPERSID. There is no code here that they could reach.

A subclass of `pickle.Unpickler` that refuses all globals would not be enough: extension codes can
be resolved from a cache without calling it, and a few bytes can make its memo take gigabytes.
"""

import pickletools
from collections.abc import Callable
from typing import Any

#: Deeper data is not a request, and hashing or packing it would overflow the stack.
MAX_DEPTH = 100
#: Nor is larger data. A few bytes can describe a lot, by naming the same part again and again.
MAX_VALUES = 100_000

# Their argument is the value.
_NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
_TEXTS = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_BYTES = {"SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_SCALARS = frozenset(_NUMBERS | _TEXTS | _BYTES)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
_IGNORED = frozenset({"PROTO", "FRAME"})
_GLOBALS = frozenset({"GLOBAL", "STACK_GLOBAL", "INST"})


class NotPlainError(ValueError):
    """Not a pickle, or one that holds more than plain data."""


def loads(raw: bytes) -> Any:
    """Raises NotPlainError."""
    machine = _Machine()
    try:
        for operation, argument, _ in pickletools.genops(raw):
            if operation.name == "STOP":
                value = machine.pop()
                check_size(value)
                return value
            machine.perform(operation.name, argument)
    except NotPlainError:
        raise
    # Anything that can be wrong in a pickle: too few values, a string where a list should be.
    except Exception as problem:
        raise NotPlainError(f"is a broken pickle: {problem}") from problem
    raise NotPlainError("is a broken pickle: it has no end")


def check_size(value: Any) -> None:
    """Raises NotPlainError for data that is larger or deeper than a request ever is."""
    left = [(value, 0)]
    count = 0
    while left:
        part, depth = left.pop()
        count += 1
        if depth > MAX_DEPTH or count > MAX_VALUES:
            raise NotPlainError("is too large, or too deep")
        if isinstance(part, dict):
            left += ((inner, depth + 1) for pair in part.items() for inner in pair)
        elif isinstance(part, list | tuple | set | frozenset):
            left += ((inner, depth + 1) for inner in part)


class _Machine:
    """The stack machine that runs a pickle, without its dangerous half."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        # The stacks below the marks, the innermost last.
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def pop(self) -> Any:
        return self._stack.pop()

    def perform(self, name: str, argument: Any) -> None:
        if name in _SCALARS:
            self._stack.append(argument)
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self._stack[-1]
        elif name in _GETS:
            self._stack.append(self._memo[int(argument)])
        elif name in _PUTS:
            self._memo[int(argument)] = self._stack[-1]
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self._stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            self._make_tuple(_TUPLES[name])
        elif name in _STEPS:
            _STEPS[name](self)
        elif name not in _IGNORED:
            raise NotPlainError(self._refusal(name, argument))

    def _refusal(self, name: str, argument: Any) -> str:
        if name not in _GLOBALS:
            return f"is a pickle with the operation {name}, which makes more than plain data"
        path = ".".join(map(str, self._stack[-2:])) if argument is None else str(argument)
        return f"holds an object of Python ({path[:200]}); only plain data can be imported"

    def _make_tuple(self, length: int) -> None:
        parts = tuple(self._stack[-length:])
        if len(parts) < length:
            raise NotPlainError("is a broken pickle: a tuple is incomplete")
        self._stack[-length:] = [parts]

    def _mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def _take_marked(self) -> list[Any]:
        marked, self._stack = self._stack, self._below.pop()
        return marked

    def _make(self, kind: Callable[[list[Any]], Any]) -> None:
        made = kind(self._take_marked())
        self._stack.append(made)

    def _append(self) -> None:
        value = self._stack.pop()
        _as(list, self._stack[-1]).append(value)

    def _appends(self) -> None:
        values = self._take_marked()
        _as(list, self._stack[-1]).extend(values)

    def _set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        _as(dict, self._stack[-1])[_key(key)] = value

    def _set_items(self) -> None:
        pairs = _dict(self._take_marked())
        _as(dict, self._stack[-1]).update(pairs)

    def _add_items(self) -> None:
        values = self._take_marked()
        _as(set, self._stack[-1]).update(map(_key, values))


_STEPS: dict[str, Callable[[_Machine], Any]] = {
    "MARK": _Machine._mark,
    "POP": _Machine.pop,
    "POP_MARK": _Machine._take_marked,
    "DUP": lambda machine: machine._stack.append(machine._stack[-1]),
    "LIST": lambda machine: machine._make(list),
    "TUPLE": lambda machine: machine._make(tuple),
    "DICT": lambda machine: machine._make(_dict),
    "FROZENSET": lambda machine: machine._make(lambda values: frozenset(map(_key, values))),
    "APPEND": _Machine._append,
    "APPENDS": _Machine._appends,
    "SETITEM": _Machine._set_item,
    "SETITEMS": _Machine._set_items,
    "ADDITEMS": _Machine._add_items,
}


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise NotPlainError(
            f"is a broken pickle: a {type(value).__name__} is not a {kind.__name__}"
        )
    return value


def _dict(values: list[Any]) -> dict[Any, Any]:
    return {_key(key): value for key, value in zip(values[::2], values[1::2], strict=True)}


def _key(value: Any) -> Any:
    """Check a value that is to be hashed: a deep tuple would overflow Python's stack."""
    if isinstance(value, tuple | frozenset):
        check_size(value)
    return value

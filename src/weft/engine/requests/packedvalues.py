"""Values in the meta and arguments of requests, as bytes and back exactly as they were.

Besides plain data there are tuples, sets and the collections of the standard library, dates,
decimals, UUIDs, paths, enums, named tuples, items and requests. Anything else is refused: a value
that would come back as something similar is refused, too.

No data that is read can run code. Classes are looked up among the modules that are already loaded,
and only those of the kinds above are accepted.
"""

import dataclasses
import pathlib
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from itemadapter import ItemAdapter
from scrapy import Request

from weft.errors import PackError

# Codes of msgpack extensions; part of the format of a store.
_TUPLE, _SET, _FROZENSET, _MAP, _INT, _ITEM = range(1, 7)
_DATETIME, _DATE, _TIME, _DELTA, _DECIMAL, _UUID = range(7, 13)
_REQUEST, _ENUM, _NAMED_TUPLE, _PATH, _BYTEARRAY = range(13, 18)
_DEQUE, _DEFAULT_DICT, _COUNTER, _ORDERED_DICT, _ZONED = range(18, 23)

_INT_RANGE = range(-(2**63), 2**63)
_PLAIN: frozenset[type] = frozenset({str, bytes, float, bool, type(None)})
#: Strings from lxml and numbers from numpy are plain to everyone who uses them; so is a slot that
#: the downloader noted.
_PLAIN_MODULES = frozenset({"lxml", "numpy", "weft"})
_PATHS = frozenset({"PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"})
#: What a defaultdict may make.
_FACTORIES: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple, Counter, deque)
}

_encode = msgspec.msgpack.encode


class UnpackableValueError(ValueError):
    """A value cannot be packed; says where it is."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} {problem}")
        self.path = path
        self.problem = problem


class PackedValues:
    def __init__(
        self,
        pack_request: Callable[[Request], bytes],
        unpack_request: Callable[[str, int, bytes], Request],
    ) -> None:
        """These two are for requests that are values themselves."""
        self._pack_request = pack_request
        self._unpack_request = unpack_request
        self._freezers: dict[type, Callable[[str, Any], Any]] = {
            **dict.fromkeys(_PLAIN, lambda path, value: value),
            int: lambda path, value: value if value in _INT_RANGE else _ext(_INT, str(value)),
            dict: self._freeze_dict,
            list: self._freeze_all,
            tuple: lambda path, value: _ext(_TUPLE, self._freeze_all(path, value)),
            set: lambda path, value: _ext(_SET, self._freeze_all(path, value)),
            frozenset: lambda path, value: _ext(_FROZENSET, self._freeze_all(path, value)),
            bytearray: lambda path, value: _ext(_BYTEARRAY, bytes(value)),
            Counter: lambda path, value: _ext(_COUNTER, self._freeze_pairs(path, value)),
            OrderedDict: lambda path, value: _ext(_ORDERED_DICT, self._freeze_pairs(path, value)),
            defaultdict: self._freeze_default_dict,
            deque: self._freeze_deque,
            datetime: _freeze_datetime,
            time: _freeze_time,
            date: lambda path, value: _ext(_DATE, value.isoformat()),
            timedelta: lambda path, value: _ext(
                _DELTA, [value.days, value.seconds, value.microseconds]
            ),
            Decimal: lambda path, value: _ext(_DECIMAL, str(value)),
            UUID: lambda path, value: _ext(_UUID, value.hex),
        }
        self.decode = msgspec.msgpack.Decoder(ext_hook=self._thaw).decode

    def freeze(self, path: str, value: Any) -> Any:
        """`value` as msgpack can keep it; what it cannot represent exactly becomes an extension.

        Raises UnpackableValueError; `path` says where the value is.
        """
        freezer = self._freezers.get(type(value))
        return freezer(path, value) if freezer else self._freeze_other(path, value)

    def _freeze_all(self, path: str, values: Iterable[Any]) -> list[Any]:
        return [
            value if _is_plain(value) else self.freeze(f"{path}[{i}]", value)
            for i, value in enumerate(values)
        ]

    def _freeze_dict(self, path: str, value: dict[Any, Any]) -> Any:
        if all(type(key) is str or (type(key) is int and key in _INT_RANGE) for key in value):
            return {
                key: v if _is_plain(v) else self.freeze(f"{path}[{key!r}]", v)
                for key, v in value.items()
            }
        return _ext(_MAP, self._freeze_pairs(path, value))

    def _freeze_pairs(self, path: str, value: Mapping[Any, Any]) -> list[list[Any]]:
        return [
            [self.freeze(f"a key of {path}", k), self.freeze(f"{path}[{k!r}]", v)]
            for k, v in value.items()
        ]

    def _freeze_default_dict(self, path: str, value: defaultdict[Any, Any]) -> Any:
        factory = value.default_factory
        name = factory.__name__ if isinstance(factory, type) else ""
        if factory is not None and _FACTORIES.get(name) is not factory:
            raise UnpackableValueError(path, f"is a defaultdict of {factory!r}")
        return _ext(_DEFAULT_DICT, [name, self._freeze_pairs(path, value)])

    def _freeze_deque(self, path: str, value: deque[Any]) -> Any:
        return _ext(_DEQUE, [self._freeze_all(path, value), value.maxlen])

    def _freeze_other(self, path: str, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, Request):
            return self._freeze_request(path, value)
        if isinstance(value, Enum):
            return _freeze_enum(path, value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return _ext(_NAMED_TUPLE, [name_of_class(path, kind), self._freeze_all(path, value)])
        if isinstance(value, pathlib.PurePath) and kind.__name__ in _PATHS:
            return _ext(_PATH, [kind.__name__, str(value)])
        if kind.__module__.partition(".")[0] in _PLAIN_MODULES:
            plain = next((cls for cls in (str, bytes, float, int) if isinstance(value, cls)), None)
            if plain is not None:
                return self.freeze(path, plain(value))
        if _is_item(value):
            return self._freeze_item(path, value)
        raise UnpackableValueError(path, f"is a {kind.__qualname__}, which cannot be stored")

    def _freeze_request(self, path: str, request: Request) -> Any:
        try:
            packed = self._pack_request(request)
        except PackError as error:
            raise UnpackableValueError(path, f"has a {error.field} that {error.problem}") from error
        return _ext(_REQUEST, [request.url, self.freeze(path, request.priority), packed])

    def _freeze_item(self, path: str, item: Any) -> Any:
        kind = type(item)
        fields = {
            name: self.freeze(f"{path}[{name!r}]", value)
            for name, value in ItemAdapter(item).items()
        }
        if _has_plain_fields(kind) and getattr(item, "__dict__", {}).keys() - fields.keys():
            raise UnpackableValueError(path, "has more attributes than the fields of its class")
        return _ext(_ITEM, [name_of_class(path, kind), fields])

    # Back

    def _thaw(self, code: int, raw: memoryview) -> Any:
        value = self.decode(raw)
        if code == _REQUEST:
            url, priority, payload = value
            return self._unpack_request(url, priority, payload)
        return _THAWED[code](value)


def name_of_class(path: str, kind: type) -> str:
    """Raises UnpackableValueError for a class that could not be found by its name."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if look_up(name) is not kind:
        problem = f"is a {kind.__qualname__}, which cannot be stored; "
        raise UnpackableValueError(path, f"{problem}define that class at module level")
    return name


def look_up(name: str) -> Any:
    """Look up a name in the `__dict__` of a loaded module: getattr could import something."""
    module, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found


def find_class(name: str, is_wanted: Callable[[type], bool]) -> type[Any]:
    """Find a class by name among the loaded modules."""
    found = look_up(name)
    if not isinstance(found, type) or not is_wanted(found):
        raise PackError(name, "class", "is not loaded; import it in the module of the spider")
    return found


def _is_plain(value: Any) -> bool:
    """Whether msgpack keeps it as it is. This is true of most values, and saves building a path for
    them."""
    kind = type(value)
    return kind in _PLAIN or (kind is int and value in _INT_RANGE)


def _ext(code: int, value: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, _encode(value))


def _freeze_datetime(path: str, value: datetime) -> Any:
    text = value.isoformat()
    if _is_same(datetime.fromisoformat(text), value):
        return _ext(_DATETIME, text)
    if type(value.tzinfo) is ZoneInfo and value.tzinfo.key:
        text, key = value.replace(tzinfo=None).isoformat(), value.tzinfo.key
        return _ext(_ZONED, [text, value.fold, key])
    if _is_same(datetime.fromisoformat(text).replace(fold=1), value):
        return _ext(_ZONED, [text, 1, ""])
    raise UnpackableValueError(path, f"is a datetime in {value.tzinfo!r}, which cannot be stored")


def _thaw_zoned(parts: tuple[str, int, str]) -> datetime:
    text, fold, key = parts
    value = datetime.fromisoformat(text).replace(fold=fold)
    return value.replace(tzinfo=ZoneInfo(key)) if key else value


def _freeze_time(path: str, value: time) -> Any:
    text = value.isoformat()
    if not _is_same(time.fromisoformat(text).replace(fold=value.fold), value):
        raise UnpackableValueError(path, f"is {value!r}, which cannot be stored")
    return _ext(_TIME, [text, value.fold])


def _thaw_time(parts: tuple[str, int]) -> time:
    text, fold = parts
    return time.fromisoformat(text).replace(fold=fold)


def _is_same(one: Any, other: Any) -> bool:
    """Not only equal: in the same time zone and fold."""
    return repr(one) == repr(other)


def _freeze_enum(path: str, value: Enum) -> Any:
    kind = type(value)
    name = name_of_class(path, kind)
    if kind.__members__.get(value.name or "") is value:
        return _ext(_ENUM, [name, value.name])
    return _ext(_ENUM, [name, value.value])  # several flags at once


def _thaw_enum(parts: tuple[str, str | int]) -> Any:
    name, member = parts
    if isinstance(member, str):
        return find_class(name, lambda kind: issubclass(kind, Enum)).__members__[member]
    return find_class(name, lambda kind: issubclass(kind, Flag))(member)


def _thaw_named_tuple(parts: tuple[str, list[Any]]) -> Any:
    name, values = parts
    kind = find_class(name, lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"))
    if len(values) != len(kind._fields):
        raise ValueError(f"{name} has other fields")
    return tuple.__new__(kind, values)


def _thaw_path(parts: tuple[str, str]) -> pathlib.PurePath:
    name, text = parts
    if name not in _PATHS:
        raise ValueError(f"{name} is no path")
    path: pathlib.PurePath = getattr(pathlib, name)(text)
    return path


def _thaw_default_dict(parts: tuple[str, list[Any]]) -> defaultdict[Any, Any]:
    name, pairs = parts
    return defaultdict(_FACTORIES[name] if name else None, pairs)


def _is_item(value: Any) -> bool:
    # A dict is never packed as an item.
    return ItemAdapter.is_item(value) and not isinstance(value, dict)


def _is_item_class(kind: type) -> bool:
    return ItemAdapter.is_item_class(kind) and not issubclass(kind, dict)


def _has_plain_fields(kind: type) -> bool:
    """Whether its fields are its attributes, so that an item can be made without calling it."""
    return dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__")


def _thaw_item(parts: tuple[str, dict[str, Any]]) -> Any:
    name, fields = parts
    kind = find_class(name, _is_item_class)
    if not _has_plain_fields(kind):
        return kind(**fields)
    known = ItemAdapter.get_field_names_from_class(kind) or ()
    if fields.keys() - set(known):
        raise ValueError(f"{name} has other fields")
    item = object.__new__(kind)
    for field, value in fields.items():
        object.__setattr__(item, field, value)
    return item


_THAWED: dict[int, Callable[[Any], Any]] = {
    _TUPLE: tuple,
    _SET: set,
    _FROZENSET: frozenset,
    _DATETIME: datetime.fromisoformat,
    _DATE: date.fromisoformat,
    _TIME: _thaw_time,
    _DELTA: lambda parts: timedelta(*parts),
    _DECIMAL: Decimal,
    _UUID: lambda text: UUID(hex=text),
    _INT: int,
    _MAP: dict,
    _ITEM: _thaw_item,
    _ENUM: _thaw_enum,
    _NAMED_TUPLE: _thaw_named_tuple,
    _PATH: _thaw_path,
    _BYTEARRAY: bytearray,
    _DEQUE: lambda parts: deque(parts[0], parts[1]),
    _DEFAULT_DICT: _thaw_default_dict,
    _COUNTER: lambda pairs: Counter(dict(pairs)),
    _ORDERED_DICT: OrderedDict,
    _ZONED: _thaw_zoned,
}

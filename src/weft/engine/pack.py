"""Scrapy requests as bytes and back, without pickle: nothing that is read can run code.

A payload is a msgpack map of the attributes that differ from a plain GET. Values may be plain data,
tuples, sets, dates, decimals, UUIDs and items (`scrapy.Item`, dataclasses, attrs); whatever else is
found is refused with an error that names it. Callbacks are names of methods of the spider. Classes
of items and requests are looked up among the modules that are loaded already, and only item and
request classes are taken: a store cannot make Weft import or call anything else.
"""

import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from itemadapter import ItemAdapter
from scrapy import Request, Spider
from scrapy.http import FormRequest, JsonRequest, XmlRpcRequest
from scrapy.http.request import NO_CALLBACK

from weft.errors import PackError

_NO_CALLBACK = "NO_CALLBACK"

# Subclasses that only help to build a request: what they built is all in method, headers and body.
_BUILDERS = (FormRequest, JsonRequest, XmlRpcRequest)

# Set by Scrapy while it downloads; a copy of the request must find them out for itself.
_TRANSIENT_META = frozenset({"download_slot", "download_latency"})

# Codes of msgpack extensions; part of the format of a store.
_TUPLE, _SET, _FROZENSET, _MAP, _INT, _ITEM = range(1, 7)
_DATETIME, _DATE, _TIME, _DELTA, _DECIMAL, _UUID = range(7, 13)
_INT_RANGE = range(-(2**63), 2**63)

_encode = msgspec.msgpack.encode


class Packer:
    """Packs the requests of one spider."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._names: dict[Callable[..., Any], str] = {}

    def pack(self, request: Request) -> bytes:
        """The payload of a request; empty for a plain GET with the default callback."""
        try:
            fields = self._fields(request)
            return _encode(fields) if fields else b""
        except (OverflowError, TypeError, ValueError, RecursionError) as problem:
            raise PackError(repr(request), "payload", f"cannot be packed: {problem}") from problem

    def _fields(self, request: Request) -> dict[str, Any]:
        meta = {k: v for k, v in request.meta.items() if k not in _TRANSIENT_META}
        fields: dict[str, Any] = {
            "method": request.method if request.method != "GET" else "",
            "headers": dict(request.headers),
            "body": request.body,
            "callback": self._name_of(request, "callback"),
            "errback": self._name_of(request, "errback"),
            "cookies": request.cookies and _freeze(request, "cookies", request.cookies),
            "meta": meta and _freeze(request, "meta", meta),
            "cb_kwargs": request.cb_kwargs and _freeze(request, "cb_kwargs", request.cb_kwargs),
            "flags": request.flags and _freeze(request, "flags", request.flags),
            "dont_filter": request.dont_filter,
            "encoding": request.encoding if request.encoding != "utf-8" else "",
        }
        if type(request) is not Request and not isinstance(request, _BUILDERS):
            fields |= self._subclass_fields(request)
        return {name: value for name, value in fields.items() if value}

    def _subclass_fields(self, request: Request) -> dict[str, Any]:
        cls = type(request)
        extra = {
            name: _freeze(request, name, getattr(request, name))
            for name in cls.attributes
            if name not in Request.attributes
        }
        return {"class": _name_of_class(request, "class", cls), "extra": extra}

    def _name_of(self, request: Request, field: str) -> str:
        method = getattr(request, field)
        if method is None:
            return ""
        if method is NO_CALLBACK:
            return _NO_CALLBACK
        function = getattr(method, "__func__", None)
        if function is None or getattr(method, "__self__", None) is not self._spider:
            raise PackError(
                repr(request),
                field,
                f"is {method!r}; only methods of the spider can be stored by name",
            )
        if function not in self._names:
            self._names[function] = self._find_name(request, field, function)
        return self._names[function]

    def _find_name(self, request: Request, field: str, function: Callable[..., Any]) -> str:
        # A private method is found under another name than its own.
        for name in (function.__name__, *dir(type(self._spider))):
            if getattr(getattr(self._spider, name, None), "__func__", None) is function:
                return str(name)
        raise PackError(repr(request), field, f"is {function!r}, which the spider does not have")

    def unpack(self, url: str, priority: int, payload: bytes) -> Request:
        try:
            return self._unpack(url, priority, payload)
        except PackError:
            raise
        except Exception as problem:  # classes of the project are called, which may raise anything
            raise PackError(url, "payload", f"does not fit this spider: {problem}") from problem

    def _unpack(self, url: str, priority: int, payload: bytes) -> Request:
        fields = _decode(payload) if payload else {}
        cls = _find_class(fields.pop("class"), Request) if "class" in fields else Request
        fields |= fields.pop("extra", {})
        for field in ("callback", "errback"):
            if field in fields:
                fields[field] = self._method(url, field, fields[field])
        request: Request = cls(url, priority=priority, **fields)
        return request

    def _method(self, url: str, field: str, name: str) -> Callable[..., Any]:
        if name == _NO_CALLBACK:
            return NO_CALLBACK
        method: Any = getattr(self._spider, name, None)
        if getattr(method, "__self__", None) is not self._spider:
            problem = f"is {name!r}, a method that the spider does not have (any more?)"
            raise PackError(url, field, problem)
        return method  # type: ignore[no-any-return]


def _freeze(request: Request, path: str, value: Any) -> Any:
    """`value` as msgpack can keep it; what it cannot tell apart becomes an extension."""
    match value:
        case None | bool():
            return value
        case str() | bytes() | float() | int():
            return _freeze_plain(value)
        case dict():
            return _freeze_dict(request, path, value)
        case list():
            return [_freeze(request, f"{path}[{i}]", v) for i, v in enumerate(value)]
        case tuple() | set() | frozenset() if type(value) in _COLLECTIONS:
            frozen = [_freeze(request, f"{path}[{i}]", v) for i, v in enumerate(value)]
            return _ext(_COLLECTIONS[type(value)], frozen)
        case datetime() | date() | time() | timedelta() | Decimal() | UUID():
            return _freeze_scalar(value)
        case _ if ItemAdapter.is_item(value):
            return _freeze_item(request, path, value)
    raise PackError(
        repr(request),
        path,
        f"is a {type(value).__qualname__}; plain data, dates and items can be stored",
    )


def _freeze_plain(value: str | bytes | float) -> Any:
    """Without its subclass, which msgpack refuses: the strings of lxml, the numbers of numpy."""
    match value:
        case str():
            return str.__str__(value)
        case bytes():
            return bytes(value)
        case int():
            plain = int.__int__(value)
            return plain if plain in _INT_RANGE else _ext(_INT, str(plain))
    return float.__float__(value)


def _is_plain(value: Any) -> bool:
    """Whether msgpack keeps it as it is, as most values: to say where one stands takes time."""
    kind = type(value)
    return kind in _PLAIN or (kind is int and value in _INT_RANGE)


_PLAIN = frozenset({str, bytes, float, bool, type(None)})
_COLLECTIONS: dict[type, int] = {tuple: _TUPLE, set: _SET, frozenset: _FROZENSET}


def _freeze_dict(request: Request, path: str, value: dict[Any, Any]) -> Any:
    if all(type(key) is str or (type(key) is int and key in _INT_RANGE) for key in value):
        return {
            key: v if _is_plain(v) else _freeze(request, f"{path}[{key!r}]", v)
            for key, v in value.items()
        }
    pairs = [
        [_freeze(request, f"a key of {path}", k), _freeze(request, f"{path}[{k!r}]", v)]
        for k, v in value.items()
    ]
    return _ext(_MAP, pairs)


def _freeze_scalar(value: Any) -> msgspec.msgpack.Ext:
    match value:
        case datetime():
            return _ext(_DATETIME, value.isoformat())
        case date():
            return _ext(_DATE, value.isoformat())
        case time():
            return _ext(_TIME, value.isoformat())
        case timedelta():
            return _ext(_DELTA, [value.days, value.seconds, value.microseconds])
        case Decimal():
            return _ext(_DECIMAL, str(value))
    return _ext(_UUID, value.hex)


def _freeze_item(request: Request, path: str, item: Any) -> msgspec.msgpack.Ext:
    cls = type(item)
    fields = {
        name: _freeze(request, f"{path}[{name!r}]", value)
        for name, value in ItemAdapter(item).items()
    }
    return _ext(_ITEM, [_name_of_class(request, path, cls), fields])


def _name_of_class(request: Request, path: str, cls: type) -> str:
    name = f"{cls.__module__}:{cls.__qualname__}"
    if _look_up(name) is not cls:
        raise PackError(
            repr(request), path, f"is a {cls.__qualname__}; define that class at module level"
        )
    return name


def _ext(code: int, value: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, _encode(value))


def _thaw(code: int, raw: memoryview) -> Any:
    value = msgspec.msgpack.decode(raw, ext_hook=_thaw)
    if code == _ITEM:
        name, fields = value
        return _find_class(name, object)(**fields)
    return _THAWED[code](value)


_decode = msgspec.msgpack.Decoder(ext_hook=_thaw).decode

_THAWED: dict[int, Callable[[Any], Any]] = {
    _TUPLE: tuple,
    _SET: set,
    _FROZENSET: frozenset,
    _DATETIME: datetime.fromisoformat,
    _DATE: date.fromisoformat,
    _TIME: time.fromisoformat,
    _DELTA: lambda parts: timedelta(*parts),
    _DECIMAL: Decimal,
    _UUID: lambda text: UUID(hex=text),
    _INT: int,
    _MAP: dict,
}


def _find_class(name: str, base: type) -> type[Any]:
    """A request or item class by name, among what is loaded."""
    found = _look_up(name)
    is_wanted = isinstance(found, type) and (
        issubclass(found, base) if base is Request else _is_item_class(found)
    )
    if not is_wanted:
        raise PackError(name, "class", "is not loaded; import it in the module of the spider")
    return found  # type: ignore[no-any-return]


def _is_item_class(cls: type) -> bool:
    # A dict is never packed as an item.
    return ItemAdapter.is_item_class(cls) and not issubclass(cls, dict)


def _look_up(name: str) -> Any:
    """What a loaded module has under this name, taken as it lies there: getattr could import."""
    module, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found

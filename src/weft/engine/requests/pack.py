"""Converts Scrapy requests to bytes and back, without pickle: no data that is read can run code.

A payload is a msgpack map of the attributes that differ from a plain GET; see `PackedValues` for
what they may hold. Callbacks are names: of methods of the spider, or of functions that are defined
at the top level of the modules of its package. Request classes are looked up among the modules that
are already loaded: a store cannot make Weft import or call anything else.

What cannot be packed so that it comes back as it was is refused, and is kept in memory, see
`KeptRequests`.
"""

from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.http.request import NO_CALLBACK

from weft.engine.requests.packedvalues import (
    PackedValues,
    UnpackableValueError,
    find_class,
    look_up,
    name_of_class,
)
from weft.engine.requests.slots import NotedSlot
from weft.errors import PackError, UnpackableError

_NO_CALLBACK = "NO_CALLBACK"

#: Packages that have spiders of their own, and functions that are no callbacks.
_FRAMEWORKS = frozenset({"scrapy", "weft"})

_encode = msgspec.msgpack.encode


class Packer:
    """Packs the requests of one spider."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._values = PackedValues(self.pack, self.unpack)
        # Of methods of the spider.
        self._names: dict[Callable[..., Any], str] = {}
        # The package of the project; others are not the user's own code.
        self._package = _package_of(type(spider).__module__)
        # Request classes whose requests come back as they were, or do not.
        self._is_faithful: dict[type[Request], bool] = {}

    def pack(self, request: Request) -> bytes:
        """The payload of a request; empty for a plain GET with the default callback.

        Raises UnpackableError."""
        try:
            fields = self._fields(request)
            return _encode(fields) if fields else b""
        except UnpackableValueError as error:
            raise UnpackableError(repr(request), error.path, error.problem) from error
        except (OverflowError, TypeError, ValueError, RecursionError) as problem:
            why = f"cannot be packed: {problem}"
            raise UnpackableError(repr(request), "payload", why) from problem

    def _fields(self, request: Request) -> dict[str, Any]:
        freeze = self._values.freeze
        meta = {k: v for k, v in request.meta.items() if not _is_transient(k, v)}
        fields: dict[str, Any] = {
            "method": request.method if request.method != "GET" else "",
            "headers": dict(request.headers),
            "body": request.body,
            "callback": self._name_of("callback", request.callback),
            "errback": self._name_of("errback", request.errback),
            "cookies": request.cookies and freeze("cookies", request.cookies),
            "meta": meta and freeze("meta", meta),
            "cb_kwargs": request.cb_kwargs and freeze("cb_kwargs", request.cb_kwargs),
            "flags": request.flags and freeze("flags", request.flags),
            "dont_filter": request.dont_filter,
            "encoding": request.encoding if request.encoding != "utf-8" else "",
        }
        fields = {name: value for name, value in fields.items() if value}
        if type(request) is not Request:
            fields |= self._subclass_fields(request)
            self._check_faithful(request, fields)
        return fields

    def _subclass_fields(self, request: Request) -> dict[str, Any]:
        cls = type(request)
        extra = {
            name: self._values.freeze(name, getattr(request, name))
            for name in cls.attributes
            if name not in Request.attributes
        }
        # Its own defaults may be others.
        own = {"method": request.method, "dont_filter": request.dont_filter}
        return {"class": name_of_class("class", cls), "extra": extra, **own}

    def _check_faithful(self, request: Request, fields: dict[str, Any]) -> None:
        """The first request of a class shows whether others can be made from what is stored."""
        cls = type(request)
        if cls not in self._is_faithful:
            self._is_faithful[cls] = True  # it may contain requests of its own class
            self._is_faithful[cls] = self._comes_back(request, _encode(fields))
        if not self._is_faithful[cls]:
            raise UnpackableValueError("class", f"is {cls.__qualname__}, which cannot be stored")

    def _comes_back(self, request: Request, payload: bytes) -> bool:
        try:
            back = self.unpack(request.url, request.priority, payload)
        except PackError:
            return False
        return all(
            getattr(back, name) == getattr(request, name)
            for name in type(request).attributes
            if name != "meta"  # without what is transient
        )

    # Callbacks

    def _name_of(self, field: str, method: Any) -> str:
        if method is None:
            return ""
        if method is NO_CALLBACK:
            return _NO_CALLBACK
        function = getattr(method, "__func__", method)
        is_of_spider = getattr(method, "__self__", None) is self._spider
        if is_of_spider and function in self._names:
            return self._names[function]
        name = next(self._possible_names(method), "")
        if not name:
            problem = "only methods of the spider and functions of its modules can be stored"
            raise UnpackableValueError(field, f"is {method!r}; {problem}")
        if is_of_spider:
            self._names[function] = name
        return name

    def _possible_names(self, method: Any) -> Iterator[str]:
        """The names that it can be found by."""
        names = [getattr(method, "__name__", "")]
        if isinstance(method, FunctionType):
            names.append(f"{method.__module__}:{method.__qualname__}")
        else:
            # A private method has a mangled attribute name, not its own.
            names += dir(type(self._spider))
        return (name for name in names if name and self._find(name) == method)

    def _find(self, name: str) -> Callable[..., Any] | None:
        """The callback with this name, if the spider may have it."""
        if ":" in name:
            return self._find_function(name)
        method: Any = getattr(self._spider, name, None)
        if isinstance(method, MethodType) and method.__self__ is self._spider:
            return method
        # Those of Scrapy itself are no callbacks.
        is_function = isinstance(method, MethodType | FunctionType)
        is_of_class = any(name in vars(cls) for cls in type(self._spider).__mro__)
        return method if is_function and is_of_class and not hasattr(Spider, name) else None

    def _find_function(self, name: str) -> Callable[..., Any] | None:
        package = _package_of(name.partition(":")[0])
        if package != self._package or package in _FRAMEWORKS:
            return None
        found = look_up(name)
        if not isinstance(found, FunctionType) or found.__closure__:
            return None
        # Not what its modules import from elsewhere.
        return found if name == f"{found.__module__}:{found.__qualname__}" else None

    # Back

    def unpack(self, url: str, priority: int, payload: bytes) -> Request:
        """Raises PackError."""
        try:
            return self._unpack(url, priority, payload)
        except PackError:
            raise
        except Exception as problem:  # it calls classes of the project, which may raise anything
            raise PackError(url, "payload", f"does not fit this spider: {problem}") from problem

    def _unpack(self, url: str, priority: int, payload: bytes) -> Request:
        fields = self._values.decode(payload) if payload else {}
        cls = find_class(fields.pop("class"), _is_request) if "class" in fields else Request
        fields |= fields.pop("extra", {})
        for field in ("callback", "errback"):
            if field in fields:
                fields[field] = self._callback(url, field, fields[field])
        request: Request = cls(url, priority=priority, **fields)
        return request

    def _callback(self, url: str, field: str, name: str) -> Callable[..., Any]:
        if name == _NO_CALLBACK:
            return NO_CALLBACK
        found = self._find(name)
        if found is None:
            problem = f"is {name!r}, a method that the spider does not have (any more?)"
            raise PackError(url, field, problem)
        return found


def _package_of(module: str) -> str:
    return module.partition(".")[0]


def _is_request(cls: type) -> bool:
    return issubclass(cls, Request)


def _is_transient(key: Any, value: Any) -> bool:
    """Whether it was set by the download of a request; a copy of the request must get its own."""
    return key == "download_latency" or type(value) is NotedSlot

"""Reads queue entries of scrapy-redis as Scrapy requests, without importing or running anything."""

from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.http import FormRequest, JsonRequest, XmlRpcRequest
from scrapy.utils.request import request_from_dict

from weft.scrapyredis import plainpickle

# They only help to build a request: what they built is all in method, headers and body.
_BUILDERS = {
    f"{cls.__module__}.{cls.__name__}" for cls in (FormRequest, JsonRequest, XmlRpcRequest)
}


class EntryError(Exception):
    """An entry that cannot be imported; the message continues after its name."""


def read_entry(raw: bytes, spider: Spider) -> Request:
    """Raises EntryError."""
    fields = _load(raw)
    if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
        raise EntryError("is not a scrapy-redis request")
    return _request(fields, spider)


def _load(raw: bytes) -> Any:
    """Decide by the first character: no pickle starts like JSON does."""
    try:
        if raw.lstrip()[:1] != b"{":
            return plainpickle.loads(raw)
        value = msgspec.json.decode(raw)
        plainpickle.check_size(value)
    except plainpickle.NotPlainError as problem:
        raise EntryError(str(problem)) from problem
    except (msgspec.DecodeError, RecursionError, ValueError) as problem:
        raise EntryError(f"is broken JSON: {problem}") from problem
    return value


def _request(fields: dict[str, Any], spider: Spider) -> Request:
    url = fields["url"]
    name = fields.pop("_class", None)
    if name is not None and name not in _BUILDERS:
        raise EntryError(f"({url}) is a {name}; only the request classes of Scrapy can be imported")
    try:
        for field in ("callback", "errback"):
            _check_method(url, field, fields.get(field), spider)
        return request_from_dict(fields, spider=spider)
    except EntryError:
        raise
    except Exception as problem:  # the fields may hold anything
        raise EntryError(f"({url}) is not a Scrapy request: {problem}") from problem


def _check_method(url: str, field: str, name: Any, spider: Spider) -> None:
    """Check the name before Scrapy looks it up: Scrapy would accept any attribute."""
    if not name:
        return
    method = getattr(spider, name, None) if isinstance(name, str) else None
    if getattr(method, "__self__", None) is not spider:
        raise EntryError(
            f"({url}) has the {field} {name!r}, a method that the spider does not have"
        )

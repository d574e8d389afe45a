"""Requests as bytes and back. The classes of items stand at module level, as in a project."""

import contextlib
import dataclasses
import http
import json
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given
from scrapy import Field, Item, Request, Selector, Spider
from scrapy.http import FormRequest, JsonRequest, Response, XmlRpcRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.loader import ItemLoader

from weft.engine.requests.pack import Packer
from weft.engine.requests.slots import NotedSlot
from weft.errors import PackError
from weft.testing.waiting import wait_until

URL = "http://h/"
ITEM_EXT = 6


class Base(Spider):
    name = "base"

    def __parse_private(self, response: Response) -> None: ...

    @property
    def private(self) -> Callable[[Response], None]:
        return self.__parse_private


def parse_elsewhere(response: Response) -> None: ...


class Quotes(Base):
    name = "quotes"

    def parse_page(self, response: Response) -> None: ...

    def on_error(self, failure: object) -> None: ...

    @staticmethod
    def parse_static(response: Response) -> None: ...

    @classmethod
    def parse_class(cls, response: Response) -> None: ...


class QuoteItem(Item):
    text = Field()
    more = Field()


@dataclasses.dataclass
class QuoteData:
    text: str
    tags: tuple[str, ...] = ()


@attrs.define
class QuoteAttrs:
    text: str
    when: date | None = None


class Outer:
    @dataclasses.dataclass
    class Inner:
        x: int


class PickyItem(QuoteItem):
    def __init__(self, **fields: Any) -> None:
        raise KeyError("never")


class TokenRequest(Request):
    attributes = (*Request.attributes, "token", "scopes")

    def __init__(self, *args: Any, token: str = "", scopes: Any = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.token = token
        self.scopes = scopes


class SplitRequest(Request):
    """It cannot be made from the attributes that it has."""

    def __init__(self, scheme: str, host: str) -> None:
        super().__init__(f"{scheme}://{host}/")


class Number(int):
    pass


class Text(str):
    __slots__ = ()


class Ratio(float):
    pass


class Color(Enum):
    RED = 1


class Permission(Flag):
    READ = 1
    WRITE = 2


Pair = namedtuple("Pair", "a b")

assert callable(wait_until)  # it is here for the store to name

SPIDER = Quotes()
PACKER = Packer(SPIDER)


def shown(value: Any) -> str:
    """The same in every process: sets have another order in each, and functions another address."""
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({', '.join(sorted(map(repr, value)))})"
    return re.sub(r" at 0x\w+", "", repr(value))


def again(request: Request) -> Request:
    """The request after a trip through the store."""
    return PACKER.unpack(request.url, request.priority, PACKER.pack(request))


def meta_again(value: Any) -> Any:
    return again(Request(URL, meta={"value": value})).meta["value"]


def refusal(request: Request) -> str:
    with pytest.raises(PackError) as caught:
        PACKER.pack(request)
    assert repr(request) in str(caught.value)
    return str(caught.value).removeprefix(f"cannot store {request!r}: ")


# Round trips


def test_plain_request_needs_no_payload() -> None:
    assert PACKER.pack(Request(URL, priority=7)) == b""
    request = PACKER.unpack(URL, 7, b"")
    assert type(request) is Request
    assert request.to_dict() == Request(URL, priority=7).to_dict()


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "POST"},
        {"method": "PURGE", "body": bytes(range(256))},
        {"headers": {"A": ["1", "2"], "B": b"\xff", "C": ""}},
        {"cookies": {"a": "1"}},
        {"cookies": [{"name": "a", "value": "1", "domain": "h", "secure": True}]},
        {"meta": {"depth": 3, "proxy": None}},
        {"cb_kwargs": {"page": 3, "seen": {1, 2}}},
        {"flags": ["a", "b"]},
        {"dont_filter": True},
        {"encoding": "latin-1", "body": "ü"},
        {"priority": -5},
    ],
    ids=str,
)
def test_attributes_come_back(fields: dict[str, Any]) -> None:
    request = Request(URL, **fields)
    assert again(request).to_dict() == request.to_dict()


def test_everything_at_once_comes_back() -> None:
    request = Request(
        "http://h/ü?a=1",
        callback=SPIDER.parse_page,
        errback=SPIDER.on_error,
        method="POST",
        headers={"X": ["1", "2"]},
        body=b"\x00\xff",
        cookies={"a": "b"},
        meta={"a": 1},
        encoding="latin-1",
        priority=3,
        dont_filter=True,
        flags=["x"],
        cb_kwargs={"k": "v"},
    )
    assert again(request).to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)


def test_callbacks_come_back_as_methods_of_the_spider() -> None:
    request = again(Request(URL, callback=SPIDER.parse_page, errback=SPIDER.on_error))
    assert request.callback == SPIDER.parse_page
    assert request.errback == SPIDER.on_error


def test_private_method_is_found_again() -> None:
    assert again(Request(URL, callback=SPIDER.private)).callback == SPIDER.private


@pytest.mark.parametrize("method", [SPIDER.parse_static, SPIDER.parse_class, parse_elsewhere])
def test_other_callbacks_of_the_spider_and_its_module_come_back(method: Any) -> None:
    assert again(Request(URL, callback=method, errback=method)).callback == method


def test_no_callback_comes_back() -> None:
    assert again(Request(URL, callback=NO_CALLBACK)).callback is NO_CALLBACK


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63 - 1,
        2**63,
        -(2**200),
        1.5,
        float("inf"),
        "text ü \0",
        b"\xff",
        [],
        (),
        (1, (2, [3])),
        {1, 2},
        frozenset({"a", (1, 2)}),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 0, 0, 123456),
        datetime(2024, 2, 29, tzinfo=UTC),
        datetime(2024, 2, 29, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
        time(23, 59, 59, 1),
        timedelta(days=-1, microseconds=5),
        Decimal("1.500"),
        Decimal("1E+400"),
        UUID(int=2**128 - 1),
        {"a": {"b": [{"c": (1, {"d": {2}})}]}},
        {1: "int", -1: "negative"},
        {"1": "str", 1: "int"},
        {(1, 2): "tuple", None: "none", 1.5: "float", b"b": "bytes", True: "bool"},
        {2**70: "big"},
        {date(2024, 1, 1): "date", frozenset({1}): "set"},
        datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        Color.RED,
        http.HTTPStatus.OK,
        Permission.READ,
        Permission.READ | Permission.WRITE,
        {Color.RED: 1},
        Pair(1, Pair([2], None)),
        Path("a/b"),
        PureWindowsPath("a/b"),
        bytearray(b"a"),
        deque([1, {2}], maxlen=3),
        deque(),
        Counter("aab"),
        OrderedDict(b=1, a=OrderedDict()),
        defaultdict(list, {"a": [1]}),
        defaultdict(None, {1: 2}),
    ],
    ids=shown,
)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = meta_again(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value) or isinstance(value, set | frozenset)


class Smart(str):
    """As lxml makes them."""

    __slots__ = ()
    __module__ = "lxml.etree"


def test_strings_of_lxml_become_plain() -> None:
    assert type(meta_again(Smart("a"))) is str


@pytest.mark.parametrize(
    "item",
    [
        QuoteItem(text="a", more=[QuoteItem(text="b")]),
        QuoteItem(),
        QuoteData("a", ("x", "y")),
        QuoteAttrs("a", date(2024, 1, 1)),
        Outer.Inner(1),
    ],
    ids=shown,
)
def test_items_come_back_as_items(item: Any) -> None:
    assert meta_again(item) == item
    assert type(meta_again(item)) is type(item)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
    # Lone surrogates have no UTF-8.
    | st.text(st.characters(exclude_categories=["Cs"])) | st.binary() | st.dates() | st.datetimes()
    | st.times() | st.timedeltas() | st.decimals(allow_nan=False) | st.uuids(),
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(), inner)
    | st.dictionaries(st.none() | st.dates() | st.tuples(st.integers()), inner, max_size=3)
    | st.frozensets(st.integers() | st.binary(max_size=3), max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(plain)
def test_plain_data_comes_back(value: Any) -> None:
    back = meta_again(value)
    assert back == value
    assert type(back) is type(value)


def test_what_scrapy_sets_while_it_downloads_is_left_out() -> None:
    noted = {"download_slot": NotedSlot("h"), "download_latency": 0.1}
    request = Request(URL, meta=noted | {"mine": 1})
    assert again(request).meta == {"mine": 1}
    assert request.meta["download_slot"] == "h"


def test_a_slot_that_was_noted_is_a_plain_text_elsewhere() -> None:
    back = again(Request(URL, cb_kwargs={"slot": NotedSlot("h")})).cb_kwargs["slot"]
    assert back == "h"
    assert type(back) is str


def test_a_slot_that_was_chosen_comes_back() -> None:
    assert again(Request(URL, meta={"download_slot": "h"})).meta == {"download_slot": "h"}


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest(URL, formdata={"a": "ü", "b": ["1", "2"]}),
        JsonRequest(URL, data={"a": [1, None]}),
        JsonRequest(URL, dumps_kwargs={"indent": 2}),
        XmlRpcRequest(URL, methodname="m", params=(1,)),
        XmlRpcRequest(URL, methodname="m", params=(1,), dont_filter=False),
    ],
    ids=lambda request: type(request).__name__,
)
def test_request_builders_come_back(request_: Request) -> None:
    back = again(request_)
    assert type(back) is type(request_)
    assert back.to_dict() == request_.to_dict()


def test_requests_in_meta_come_back() -> None:
    inner = Request("http://i/", callback=SPIDER.parse_page, meta={"a": (1,)}, priority=2**70)
    back = meta_again([inner])[0]
    assert back.to_dict(spider=SPIDER) == inner.to_dict(spider=SPIDER)
    unpackable = Request("http://i/", callback=print)
    refused = refusal(Request(URL, meta={"a": unpackable}))
    assert refused.startswith("meta['a'] has a callback that is <built-in function print>")


def test_own_request_class_comes_back_with_its_attributes() -> None:
    request = TokenRequest(URL, token="t", scopes=("a", {1}), meta={"x": 1})
    back = again(request)
    assert type(back) is TokenRequest
    assert (back.token, back.scopes, back.meta) == ("t", ("a", {1}), {"x": 1})


# What cannot be stored


@pytest.mark.parametrize("field", ["callback", "errback"])
@pytest.mark.parametrize(
    "method",
    [
        lambda x: None,
        partial(SPIDER.parse_page),
        Quotes().parse_page,
        SPIDER.update_settings,
        "".join,
        print,
        json.dumps,
        types.MethodType(lambda self, response: None, SPIDER),
    ],
)
def test_other_callbacks_cannot_be_stored(field: str, method: Any) -> None:
    arguments = {"callback": SPIDER.parse_page} | {field: method}
    assert refusal(Request(URL, **arguments)).startswith(f"{field} is {method!r}; only methods of")


def test_a_closure_cannot_be_stored() -> None:
    def parse(response: Response) -> None: ...

    assert refusal(Request(URL, callback=parse)).startswith("callback is")


@pytest.mark.parametrize(
    "value",
    [
        object(),
        iter(()),
        lambda: 1,
        memoryview(b""),
        int,
        Number(1),
        Text("a"),
        Ratio(1.5),
        Response(URL),
        Selector(text="<p>"),
        ItemLoader(),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda v: {"meta": {"a": v}}, "meta['a']"),
        (lambda v: {"meta": {"a": [0, {"b": (v,)}]}}, "meta['a'][1]['b'][0]"),
        (lambda v: {"meta": {1: v}}, "meta[1]"),
        (lambda v: {"meta": {"q": QuoteItem(text=v)}}, "meta['q']['text']"),
        (lambda v: {"cb_kwargs": {"a": v}}, "cb_kwargs['a']"),
        (lambda v: {"flags": [v]}, "flags[0]"),
        (lambda v: {"cookies": {"a": v}}, "cookies['a']"),
    ],
)
def test_refusal_names_the_place_of_the_value(
    value: Any, wrap: Callable[[Any], dict[str, Any]], path: str
) -> None:
    kind = type(value).__qualname__
    assert refusal(Request(URL, **wrap(value))).startswith(f"{path} is a {kind}, which cannot")


def test_open_file_is_refused() -> None:
    with Path(__file__).open() as file:
        assert refusal(Request(URL, meta={"f": file})).startswith("meta['f'] is a TextIOWrapper")


def test_odd_key_that_cannot_be_stored_is_refused() -> None:
    assert refusal(Request(URL, meta={"m": {object: 1}})).startswith("a key of meta['m'] is a")


@pytest.mark.parametrize(
    "value",
    [
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1), "MEZ")),
        time(1, tzinfo=ZoneInfo("Europe/Berlin")),
        defaultdict(lambda: 1),
        defaultdict(QuoteItem),
    ],
    ids=shown,
)
def test_value_that_would_come_back_differently_is_refused(value: Any) -> None:
    assert refusal(Request(URL, meta={"v": value})).startswith("meta['v'] is ")


def test_item_with_more_than_its_fields_is_refused() -> None:
    item = QuoteData("a")
    item.more = 1  # type: ignore[attr-defined]
    assert refusal(Request(URL, meta={"v": item})).startswith("meta['v'] has more attributes")


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, 10**5000], ids=["text", "key", "int"])
def test_value_that_has_no_bytes_is_refused(value: Any) -> None:
    assert "cannot be packed" in refusal(Request(URL, meta={"v": value}))


def test_data_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "cannot be packed" in refusal(Request(URL, meta={"v": loop}))


def test_class_that_could_not_be_found_again_is_refused() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    class LocalRequest(Request):
        pass

    class LocalColor(Enum):
        RED = 1

    assert "define that class at module level" in refusal(Request(URL, meta={"v": Local(1)}))
    assert "define that class at module level" in refusal(Request(URL, meta={"v": LocalColor.RED}))
    assert "define that class at module level" in refusal(LocalRequest(URL))


def test_request_class_that_cannot_be_made_again_is_refused() -> None:
    request = SplitRequest("http", "h")
    assert refusal(request) == "class is SplitRequest, which cannot be stored"


# What a store may hold


def assert_refused(payload: bytes, match: str = "cannot store") -> None:
    before = set(sys.modules)
    with pytest.raises(PackError, match=match):
        PACKER.unpack(URL, 0, payload)
    assert set(sys.modules) == before


def encoded(**fields: Any) -> bytes:
    return msgspec.msgpack.encode(fields)


def item(name: Any, **fields: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(ITEM_EXT, msgspec.msgpack.encode([name, fields]))


HOSTILE = [
    "os:system",
    "builtins:eval",
    "builtins:dict",
    "builtins:object",
    "subprocess:Popen",
    "collections:OrderedDict",
    "antigravity:x",  # a module that is not loaded
    "antigravity:",
    "weft:Addon.x",
    "sys:modules.os.system",
    f"{__name__}:dataclasses.dataclass",
    f"{__name__}:QuoteData.__init__",
    f"{__name__}:",
    ":",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_store_cannot_make_us_use_any_other_class(name: str) -> None:
    assert "antigravity" not in sys.modules
    assert_refused(encoded(**{"class": name}), "is not loaded")
    assert_refused(encoded(meta={"x": item(name)}), "is not loaded")


def test_item_class_is_no_request_class_nor_the_other_way_round() -> None:
    assert_refused(encoded(**{"class": f"{__name__}:QuoteData"}), "is not loaded")
    assert_refused(encoded(meta=item(f"{__name__}:TokenRequest", url=URL)), "is not loaded")


def test_looking_for_a_class_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = types.ModuleType("lazy_module")
    asked: list[str] = []
    lazy.__getattr__ = asked.append  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "lazy_module", lazy)
    assert_refused(encoded(**{"class": "lazy_module:Thing"}))
    assert asked == []


@pytest.mark.parametrize("name", ["__class__", "__init__.__func__", "gone", "name", "from_crawler"])
@pytest.mark.parametrize("field", ["callback", "errback"])
def test_store_can_only_name_methods_of_the_spider(field: str, name: str) -> None:
    assert_refused(encoded(**{field: name}), f"{field} is '{name}', a method that the spider does")


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "json:dumps",
        "scrapy.utils.reactor:install_reactor",
        f"{__name__}:partial",
        f"{__name__}:wait_until",  # a function, but imported from elsewhere
        f"{__name__}:gone",
        f"{__name__}:QuoteItem",
        ":",
    ],
)
def test_store_can_only_name_functions_of_the_spiders_own_modules(name: str) -> None:
    assert_refused(encoded(callback=name), "a method that the spider does not have")


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff",
        b"\x01",
        b"\x81",
        b"\xc1",
        b"garbage",
        b"\x91" * 5_000 + b"\x01",
        encoded(nonsense=1),
        encoded(url="http://other/"),
        encoded(extra=5),
        encoded(headers=5),
        encoded(meta=5),
        encoded(callback=5),
        encoded(**{"class": 5}),
        encoded(meta=msgspec.msgpack.Ext(99, b"\x01")),
        encoded(meta={"x": msgspec.msgpack.Ext(ITEM_EXT, b"\x01")}),
        encoded(meta={"x": item(5)}),
        encoded(meta={"x": item(f"{__name__}:QuoteData", nonsense=1)}),
        encoded(meta={"x": item(f"{__name__}:PickyItem", text="no")}),
        encoded(meta={"x": msgspec.msgpack.Ext(21, b"\x92\xa3foo\x90")}),
        *(encoded(meta={"x": msgspec.msgpack.Ext(code, b"\xa1x")}) for code in range(4, 23)),
        msgspec.msgpack.encode({1: 2}),
    ],
)
def test_damaged_payload_costs_its_request_only(payload: bytes) -> None:
    assert_refused(payload)


@given(st.binary(max_size=30))
def test_no_payload_raises_anything_else(payload: bytes) -> None:
    with contextlib.suppress(PackError):
        PACKER.unpack(URL, 0, payload)

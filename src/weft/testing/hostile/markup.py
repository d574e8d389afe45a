"""Markup that costs a parser far more time or memory than its size suggests."""

from collections.abc import Callable, Iterator

from weft.testing.hostile.answers import (
    HostileAnswer,
    Pages,
    head,
    html,
    links,
    made,
    stream,
    whole,
)

_MANY = 100_000
_DOCTYPE = b"<!DOCTYPE html><title>Markup</title>"


def _repeated(tag: bytes, many: int = _MANY, end: bytes = b"") -> Callable[[], bytes]:
    return lambda: _DOCTYPE + tag * many + b"x" + end * many


def _numbered(form: bytes, many: int = _MANY) -> bytes:
    return b"".join(form % number for number in range(many))


#: Tags that nest, or that parsers look for among distant ancestors: with and without their ends.
_NESTED = (
    *("div", "span", "b", "font", "p", "ul", "li", "table", "td", "form", "select", "optgroup"),
    *("button", "object", "template", "svg", "math", "h1", "a", "nobr", "center", "blockquote"),
    *("ruby", "dl", "dd", "fieldset", "section", "x-unknown", "frameset", "marquee", "label"),
)


def _nested() -> dict[str, HostileAnswer]:
    found = {}
    for name in _NESTED:
        tag, end = f"<{name}>".encode(), f"</{name}>".encode()
        found[f"nested/{name}"] = made(_repeated(tag))
        found[f"nested-closed/{name}"] = made(_repeated(tag, end=end))
    return found | {
        "nested/table-cells": made(_repeated(b"<table><tr><td>", 30_000)),
        "nested/list-items": made(_repeated(b"<ul><li>", 45_000)),
        "nested/wrong-ends": made(_repeated(b"<div></x>", 49_000)),
        "nested/other-ends": made(_repeated(b"<div><i></div></i>", 24_000)),
        "nested/through-tables": made(_repeated(b"<div><table><tr><td></div></table>", 15_000)),
        "nested/below-the-limits": made(_repeated(b"<div>", 5_000)),
        "nested/in-comments": made(_repeated(b"<div><!-- </div> -->", 20_000)),
        "nested/in-scripts": made(_repeated(b"<div><script></div></script>", 20_000)),
        "nested/in-values": made(_repeated(b"<div title='</div>'>", 40_000)),
    }


def _attributes() -> dict[str, HostileAnswer]:
    def tag(form: bytes, many: int = _MANY) -> HostileAnswer:
        return made(lambda: _DOCTYPE + b"<a " + _numbered(form, many) + b">x</a>")

    return {
        "attributes/plain": tag(b"a%d=1 "),
        "attributes/bare": tag(b"a%d "),
        "attributes/slashes": tag(b"%x/"),
        "attributes/quoted": tag(b'a%d="x"'),
        "attributes/quoted-tags": tag(b'a%d="<b>"'),
        "attributes/single": tag(b"a%d='>'"),
        "attributes/less-than": tag(b"<%d "),
        "attributes/same": tag(b"a /*%d*/ "),
        "attributes/thousands": tag(b"a%d=1 ", 4_000),
        "attributes/first-long": made(
            lambda: _DOCTYPE + b'<a x="' + b"y" * 500_000 + b'"' + _numbered(b" a%d") + b">"
        ),
        "attributes/of-body": made(lambda: _DOCTYPE + _numbered(b"<body a%d=1>", 45_000)),
        "attributes/of-html": made(lambda: _DOCTYPE + _numbered(b"<html a%d=1>", 45_000)),
        "attributes/of-each": made(
            lambda: _DOCTYPE + (b"<i " + _numbered(b"a%d ", 200) + b">x</i>") * 1_000
        ),
        "attributes/long-name": made(lambda: _DOCTYPE + b"<a " + b"x" * 3_000_000 + b"=1>"),
        "attributes/long-value": made(lambda: _DOCTYPE + b'<a href="' + b"x" * 5_000_000 + b'">'),
        "attributes/open-value": made(lambda: _DOCTYPE + b'<a href="' + b"<p>x" * 500_000),
    }


def _formatting() -> dict[str, HostileAnswer]:
    """Unclosed formatting is reopened in each following block."""

    def page(many: int, blocks: int, block: bytes, name: bytes = b"b") -> HostileAnswer:
        return made(
            lambda: (
                _DOCTYPE
                + b"<div>"
                + _numbered(b"<" + name + b" a%d>", many)
                + b"</div>"
                + block * blocks
            )
        )

    return {
        "formatting/small": page(300, 500, b"<div>x</div>"),
        "formatting/blocks": page(2_000, 2_000, b"<div>x</div>"),
        "formatting/paragraphs": page(3_000, 8_000, b"<p>x"),
        "formatting/fonts": page(10_000, 10_000, b"<p>x", b"font"),
        "formatting/few-but-often": page(40, 45_000, b"<p>x"),
        "formatting/upper": page(2_000, 4_000, b"<P>x", b"FONT"),
        "formatting/slash": made(
            lambda: _DOCTYPE + b"<p>" + _numbered(b"<b/a%d>", 2_000) + b"<p>x" * 4_000
        ),
        "formatting/wrong-ends": made(
            lambda: _DOCTYPE + b"<p>" + _numbered(b"<b a%d></x>", 2_000) + b"<p>x</p>" * 4_000
        ),
        "formatting/behind-cells": made(
            lambda: (
                _DOCTYPE
                + b"<div>"
                + _numbered(b"<b a%d><table><td></b></table>", 1_500)
                + b"</div>"
                + b"<div>x</div>" * 3_000
            )
        ),
        "formatting/agency": made(_repeated(b"<a><b><i><u><p>", 5_000, b"</a></b></i></u>")),
        "formatting/agency-far": made(_repeated(b"<b><div>", 20_000, b"</b>")),
        "formatting/links": made(lambda: _DOCTYPE + _numbered(b"<a href=/x%d><div>", 20_000)),
    }


def _large() -> dict[str, HostileAnswer]:
    return {
        "large/tags": _long(b"<p>x</p>", 50),
        "large/text": _long(b"word and ", 50),
        "large/nothing": _long(b"\0\0\0\0\0\0\0\0", 50),
        "large/comment": _long(b"- comment", 20, b"<!--"),
        "large/script": _long(b"if(a<b){}", 20, b"<script>"),
        "large/title": _long(b"title ", 20, b"<title>"),
        "large/entities": _long(b"&amp;&#65;&nGtv;", 20),
        "large/lines": _long(b"\r\n", 20),
        "large/spaces": _long(b" ", 20, b"<a href="),
        "large/open-tag": _long(b"x ", 20, b"<a "),
        "large/less-than": _long(b"<", 3),
        "large/million-links": made(
            lambda: _DOCTYPE + _numbered(b"<a href=/l/%d>x</a>", 1_000_000)
        ),
        "large/unknown-length": stream(
            lambda: (head("text/html"), *[b"<p>x</p>" * 125_000] * 40), "close"
        ),
    }


def _long(piece: bytes, megabytes: int, start: bytes = b"") -> HostileAnswer:
    block = piece * (1_000_000 // len(piece))
    length = len(start) + megabytes * len(block)

    def pieces() -> Iterator[bytes]:
        yield head(length=length) + start
        for _ in range(megabytes):
            yield block

    return HostileAnswer(pieces)


def _many() -> dict[str, HostileAnswer]:
    return {
        # These are valid, but large.
        "many/links": made(
            lambda: _DOCTYPE + _numbered(b"<a href=/markup/l?%d>x</a>" + b"<p>x" * 20, 200)
        ),
        "many/same-links": made(_repeated(b"<a href=/markup/l>x</a>", 40_000)),
        "many/options": made(lambda: _DOCTYPE + b"<select>" + _numbered(b"<option>%d", 40_000)),
        "many/rows": made(lambda: _DOCTYPE + b"<table>" + b"<tr><td>1</td><td>2</td></tr>" * 8_000),
        "many/items": made(lambda: _DOCTYPE + b"<ul>" + b"<li>item <b>x</b>" * 15_000),
        "many/breaks": made(_repeated(b"<br>line", 60_000)),
        "many/forms": made(_repeated(b"<form><input name=x></form>", 20_000)),
        "many/comments": made(_repeated(b"<!---->", 90_000)),
        "many/scripts": made(_repeated(b"<script>x</script>", 40_000)),
        "many/names": made(
            lambda: _DOCTYPE + _numbered(b"<x%d></x%d>".replace(b"</x%d>", b"</x>"))
        ),
        "many/bases": made(_repeated(b"<base href=http://[::1><base href='javascript:'>", 5_000)),
        "many/metas": made(_repeated(b"<meta http-equiv=refresh content=9>", 5_000)),
        "many/ends": made(_repeated(b"</p></div></br>", 30_000)),
        "many/nothing": made(_repeated(b"<>", 49_000)),
        "many/questions": made(_repeated(b"<?x?>", 49_000)),
        "many/cdata": made(_repeated(b"<svg><![CDATA[<a href=x>]]></svg>", 20_000)),
    }


_OTHERS: Pages = {
    "empty": whole(""),
    "spaces": whole(" \n" * 10_000),
    "nul": whole(b"<a\0 href=/x>\0</a>" * 1_000),
    "unclosed": whole(b"<html><head><title>x<body><a href=/markup/l><b><i><table><tr><td"),
    "open-comment": whole(b"<!-- " + b"<a href=/x>" * 1_000),
    "open-script": whole(b"<script>" + b"<a href=/x></a>" * 1_000),
    "open-title": whole(b"<title>" + b"<a href=/x></a>" * 1_000),
    "open-cdata": whole(b"<![CDATA[" + b"<a href=/x></a>" * 1_000),
    "plaintext": whole(b"<plaintext>" + b"<a href=/x></a>" * 1_000),
    "long-tag": whole(b"<" + b"x" * 1_000_000 + b">"),
    "doctype": whole(b"<!DOCTYPE " + b"[<!ENTITY x 'y'>" * 10_000 + b">"),
    "laughs": whole(
        b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
        + b"".join(
            b'<!ENTITY %c "%b">' % (98 + place, b"&%c;" % (97 + place) * 10) for place in range(12)
        )
        + b"]><l>&m;</l>",
        "application/xml",
    ),
    "outside-entity": whole(
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>',
        "application/xml",
    ),
    "base-junk": whole(html("Base", "<base href='http://[::1'><a href=l>x</a>")),
    "base-data": whole(html("Base", "<base href='data:x,'><a href=l>x</a>")),
    "base-javascript": whole(html("Base", "<base href='javascript:'><a href=l>x</a>")),
    "base-elsewhere": whole(html("Base", "<base href='//nowhere.invalid/'><a href=l>x</a>")),
    "base-long": whole(html("Base", f"<base href='/{'x' * 50_000}/'><a href=l>x</a>")),
    "title-tags": whole("<title>" + "&lt;" * 50_000 + "</title>" + links("/markup/l")),
    "l": whole(html("Linked")),
}


def pages() -> Pages:
    return _nested() | _attributes() | _formatting() | _large() | _many() | dict(_OTHERS)

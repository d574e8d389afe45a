"""Pages that a browser has to fill, and those that it does not."""

import time

import pytest

from weft.boards.rendering import MAX_TAGS, looks_empty

SCRIPT = '<script src="/static/main.3f2a.js" defer></script>'
WORDS = "a word and another " * 20

SHELLS = {
    "a root": f'<head><title>News of the day</title>{SCRIPT}</head><div id="root"></div>',
    "a root without quotes": f"<div id=app></div>{SCRIPT}",
    "a root that says that it loads": f'<div id="__next"><p>Loading …</p></div>{SCRIPT}',
    "an element of its own": f"<body><app-root></app-root>{SCRIPT}",
    "a note": f"<div></div><noscript>Please enable JavaScript.</noscript>{SCRIPT}",
    "a note in Chinese": f"<noscript>请启用 JavaScript 后继续。</noscript>{SCRIPT}",
    "a note in the page": f"<p>This site needs Javascript.</p>{SCRIPT}",
    "nothing but a script": "<html><body><script>location.href = '/home'</script></body></html>",
    "data in a script": f'<div id="root"></div><script>window.data = "{WORDS}"</script>',
    "a comment": f'<!-- {WORDS} --><div id="root"></div>{SCRIPT}',
    "styles": f'<style>p {{ {WORDS} }}</style><div id="root"></div>{SCRIPT}',
    "few links": f'<div id="app"></div><a href="/imprint">Imprint</a>{SCRIPT}',
    "capitals": '<DIV ID="Root"></DIV><SCRIPT SRC="/a.js"></SCRIPT>',
}
WHOLE = {
    "nothing": "",
    "no page": '{"articles": []}',
    "a short page": "<h1>Thank you</h1><p>Your message was sent.</p>",
    "a short page with a script": f"<h1>Not found</h1>{SCRIPT}",
    "somebody else's root": f'<h1>Thank you</h1><div id="fb-root"></div>{SCRIPT}',
    "a root without scripts": '<div id="root"></div>',
    "an article in a root": f'<div id="root"><p>{WORDS}</p></div>{SCRIPT}',
    "a short list": '<div id="app">' + '<a href="/1">One</a>' * 6 + f"</div>{SCRIPT}",
    "pictures": '<div id="app">' + '<img src="/1.png">' * 4 + f"</div>{SCRIPT}",
    "a form": '<div id="app"><form>' + "<input>" * 4 + f"</form></div>{SCRIPT}",
    "content for those without scripts": (
        f'<div id="app"></div><noscript><p>{WORDS} JavaScript</p></noscript>{SCRIPT}'
    ),
    "a picture that counts visitors": (
        f'<p>Closed on Mondays.</p><noscript><img src="/count.gif"></noscript>{SCRIPT}'
    ),
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_has_no_content(name: str) -> None:
    assert looks_empty(SHELLS[name].encode())


@pytest.mark.parametrize("name", WHOLE)
def test_a_page_that_says_something_needs_no_browser(name: str) -> None:
    assert not looks_empty(WHOLE[name].encode())


def test_a_list_needs_no_browser_however_little_is_said_in_it() -> None:
    rows = "".join(f'<li><a href="/{n}.html">{n}</a></li>' for n in range(50))
    assert not looks_empty(f'<div id="root"><ul>{rows}</ul></div>{SCRIPT}'.encode())


def test_the_charset_does_not_matter() -> None:
    page = f'<title>今日新闻</title><div id="app"></div>{SCRIPT}'
    assert looks_empty(page.encode("gbk"))
    assert not looks_empty((page + "新闻" * 100).encode("gbk"))


@pytest.mark.parametrize(
    "piece",
    [
        *(b"<", b"<a", b"<a ", b"<!--", b"<script>", b"<noscript>javascript", b"<div id=", b" "),
        *(b"<x-y ", b"<b></b>", b"\x00\xff", b"<script></script"),
    ],
)
def test_hostile_bytes_take_no_time(piece: bytes) -> None:
    began_s = time.process_time()
    looks_empty(piece * (10_000_000 // len(piece)))
    assert time.process_time() - began_s < 2


def test_a_shell_that_goes_on_and_on_is_not_searched_to_its_end() -> None:
    page = f'<div id="root"></div>{SCRIPT}'
    assert not looks_empty((page + "<b></b>" * MAX_TAGS).encode())
    assert looks_empty((page + "<b></b>" * (MAX_TAGS // 4)).encode())

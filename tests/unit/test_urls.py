import random
from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from scrapy import Request
from scrapy.utils.request import fingerprint as request_fingerprint
from w3lib.url import canonicalize_url

from weft.urls import browser_url, canonical_url, fingerprint, host_key, identity

BROKEN = ["", "no url", "//host/x", "http://", "http://[x", "http://h:99999/", "/path", "?a=1"]
LONE_SURROGATE = "http://h/\ud800"

NAMES = "h EXAMPLE.com bücher.example xn--bcher-kva.de xn--zz a_b.c a--b.c -a-.b a..b .a a."
ADDRESSES = "[::1] [0::1] 127.0.0.1 127.1 0x7f.1 1.2.3.256 h.0xab a.1b"
PORTS = "a.b:80 h:8080 h:080 h:0 h: h:64999 h:65535 h:65536 user@h user:pw@h:80"


def texts(pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*pieces.split(), " ", "\t"])).map("".join)


def plain_texts(pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces.split()), max_size=6).map("".join)


urls = st.builds(
    "{}://{}{}{}{}{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS", "ftp", "data", "x"]),
    st.sampled_from(f"{NAMES} {ADDRESSES} {PORTS}".split()),
    st.sampled_from(["/", "/", ""]),
    texts(
        "a B / / . .. % %2e %41 %c3 %C3 %20 + ; %3b %2f %25 %255 ü | [ ' \" < \\ ~ = : @ %7E %zz {"
    ),
    st.sampled_from(["?", "?", ""]),
    texts("a b B = = & & + %20 %2B % %zz ? / ü ' %27 ~ - && %c3 %26 %3d [ %5B ; %41 %7E #"),
    st.sampled_from(["#", ""]),
    st.text(max_size=3),
)
#: Those that are mostly canonical, as most are.
plain_urls = st.builds(
    "http://{}/{}?{}{}".format,
    st.sampled_from(["h", "127.0.0.1:8080", "xn--zz", "a_b.c", "h:65535"]),
    plain_texts("a B / . _ ~ %C3 %20 %2F %25 %7B = ' %"),
    plain_texts("a b - = & a=1& B=& + %C3 _ a=b %2B %7E"),
    st.sampled_from(["", "#", "#x"]),
)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://h/a#part", "http://h/a"),
        ("http://h/a#", "http://h/a"),
        ("http://h", "http://h/"),
        ("HTTP://EXAMPLE.Com/A", "http://example.com/A"),
        ("http://h/a/../b/./c", "http://h/b/c"),
        ("http://h/../../a", "http://h/a"),
        ("http://h/?b=2&a=1", "http://h/?a=1&b=2"),
        ("http://h/?a=2&a=1", "http://h/?a=1&a=2"),
        ("http://h/?a-b=2&a=1", "http://h/?a=1&a-b=2"),
        ("http://h/?a=1", "http://h/?a=1"),
        ("http://h/?x", "http://h/?x="),
        ("http://h/?", "http://h/"),
        ("http://h/?#x", "http://h/"),
        ("http://h/a b", "http://h/a%20b"),
        ("http://h/%2f", "http://h/%2F"),
        ("http://h/?a=b%20c", "http://h/?a=b+c"),
        (" http://h/\n", "http://h/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[0:0::1]/x", "http://[::1]/x"),
        ("http://user:pw@h/", "http://user:pw@h/"),
        ("mailto:a@b?b&a#x", "mailto:a@b?a=&b="),
        # As in Scrapy, and unlike in a browser.
        ("http://h:80/", "http://h:80/"),
        ("http://127.1/", "http://127.1/"),
    ],
)
def test_url_has_one_canonical_form(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


def by_scrapy(url: str) -> str:
    try:
        return canonicalize_url(url)
    except ValueError:
        return url


@given(st.one_of(urls, plain_urls, st.text()))
@example("http://h/?&")
@example("http://h/?+=1&%21=2")
@example("http://h/a/.b?x=1")
@example("data:x #y")
def test_canonical_form_is_that_of_scrapy(url: str) -> None:
    assert canonical_url(url) == by_scrapy(url)


@pytest.mark.parametrize("place", ["http://h/a{}b", "http://h/?a{}=1", "http://h/?a={}b"])
@pytest.mark.parametrize("escape", [chr, "%{:02X}".format, "%{:02x}".format])
def test_each_character_and_each_escape_is_read_as_by_scrapy(
    place: str, escape: Callable[[int], str]
) -> None:
    made = [place.format(escape(byte)) for byte in range(256)]
    assert [canonical_url(url) for url in made] == [by_scrapy(url) for url in made]


@given(st.one_of(urls, plain_urls), st.one_of(urls, plain_urls))
@example("http://h/?x", "http://h/?x=")
@example("http://h/?a=b+c", "http://h/?a=b%20c")
@example("http://h/%2f", "http://h/%2F")
@example("http://h:80/", "http://h/")
def test_pages_are_the_same_as_in_scrapy(url: str, other: str) -> None:
    try:
        requests = Request(url), Request(other)
    except ValueError:  # Scrapy makes no request of it
        return
    one, two = (request_fingerprint(request) for request in requests)
    mine, yours = (fingerprint(request.url) for request in requests)
    assert (one == two) is (mine == yours)


@given(st.one_of(urls, plain_urls, st.text()))
def test_identity_is_fingerprint_and_host_key(url: str) -> None:
    assert identity(url) == (fingerprint(url), host_key(url))


@pytest.mark.parametrize("url", ["http://[x", "http://h:99999/"])
def test_what_is_no_url_stays_as_it_is(url: str) -> None:
    assert canonical_url(url) == url


def test_lone_surrogates_cost_nothing_but_the_canonical_form() -> None:
    assert canonical_url(LONE_SURROGATE) == LONE_SURROGATE
    assert fingerprint(LONE_SURROGATE) != fingerprint("http://h/")
    assert host_key(LONE_SURROGATE) == ""


@given(st.lists(st.text(alphabet="ab=?", max_size=3), min_size=1), st.randoms())
def test_order_of_the_query_does_not_matter(parts: list[str], chance: random.Random) -> None:
    shuffled = sorted(parts, key=lambda _: chance.random())
    url, other = ("http://h/?" + "&".join(some) for some in (parts, shuffled))
    assert canonical_url(url) == canonical_url(other)


@pytest.mark.parametrize(
    ("number", "url", "method", "body"),
    [
        (850257862729500478, "http://example.com/", "GET", b""),
        (1622679438800065097, "http://example.com/?b=2&a=1", "GET", b""),
        (3522178508657535083, "http://example.com/", "POST", b"x=1"),
    ],
)
def test_fingerprints_never_change(number: int, url: str, method: str, body: bytes) -> None:
    # A store of yesterday knows its URLs by these numbers.
    assert fingerprint(url, method, body) == number


@given(st.text(), st.binary(max_size=9), st.binary(max_size=9))
def test_fingerprint_fits_into_63_bits(url: str, body: bytes, extra: bytes) -> None:
    assert 0 <= fingerprint(url, "GET", body, extra) < 2**63


def test_all_63_bits_are_used() -> None:
    numbers = [fingerprint(f"http://h/{i}") for i in range(200)]
    assert max(numbers) >= 2**62
    for bit in range(63):
        assert len({number >> bit & 1 for number in numbers}) == 2


def test_method_body_and_extra_tell_requests_apart() -> None:
    different = [
        fingerprint("http://h/"),
        fingerprint("http://h/", "POST"),
        fingerprint("http://h/", "PUT"),
        fingerprint("http://h/", body=b"x"),
        fingerprint("http://h/", extra=b"x"),
        fingerprint("http://h/", "POST", b"x"),
        fingerprint("http://h/", "POST", b"", b"x"),
        fingerprint("http://h/", "POST", b"xy", b"z"),
        fingerprint("http://h/", "POST", b"x", b"yz"),
    ]
    assert len(set(different)) == len(different)


def test_equal_pages_have_equal_fingerprints() -> None:
    assert fingerprint("http://H/?b&a#x") == fingerprint("http://h/?a=&b=")
    assert fingerprint("http://h/a") != fingerprint("http://h/A")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://Example.com:8080/x", "example.com"),
        ("https://user@www.example.com/", "www.example.com"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://[0::1]/", "[::1]"),
        ("mailto:a@b", ""),
        *((url, "") for url in BROKEN),
    ],
)
def test_host_key_is_the_host_name(url: str, key: str) -> None:
    assert host_key(url) == key


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("http://H:80", "http://h/"),
        ("https://h:80/", "https://h:80/"),
        ("http://127.1/a/../b", "http://127.0.0.1/b"),
    ],
)
def test_a_browser_writes_the_same_host_in_one_way(url: str, written: str) -> None:
    assert browser_url(url) == written

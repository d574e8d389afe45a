import random

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from weft.urls import canonical_url, fingerprint, host_key

BROKEN = ["", "no url", "//host/x", "http://", "http://[x", "http://h:99999/", "/path", "?a=1"]
LONE_SURROGATE = "http://h/\ud800"

queries = st.text(alphabet="ab=&?%#/ ü+", max_size=12)
hosts = st.sampled_from(
    ["h", "EXAMPLE.com", "bücher.example", "[::1]", "127.1", "a.b:80", "h:8080"]
)
urls = st.builds(
    "{}://{}/{}?{}#{}".format,
    st.sampled_from(["http", "HTTPS", "ftp", "data", "x"]),
    hosts,
    st.text(alphabet="a./%2e \\", max_size=8),
    queries,
    st.text(max_size=4),
)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://h/a#part", "http://h/a"),
        ("http://h/a#", "http://h/a"),
        ("http://h:80/", "http://h/"),
        ("https://h:443/", "https://h/"),
        ("https://h:80/", "https://h:80/"),
        ("http://h", "http://h/"),
        ("HTTP://EXAMPLE.Com/A", "http://example.com/A"),
        ("http://h/a/../b/./c", "http://h/b/c"),
        ("http://h/../../a", "http://h/a"),
        ("http://h/?b=2&a=1", "http://h/?a=1&b=2"),
        ("http://h/?a=2&a=1", "http://h/?a=1&a=2"),
        ("http://h/?a=1", "http://h/?a=1"),
        ("http://h/?", "http://h/"),
        ("http://h/?#x", "http://h/"),
        ("http://h/a b", "http://h/a%20b"),
        (" http://h/\n", "http://h/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[0:0::1]:80/x", "http://[::1]/x"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://user:pw@h/", "http://user:pw@h/"),
        ("mailto:a@b?b&a#x", "mailto:a@b?a&b"),
    ],
)
def test_url_has_one_canonical_form(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize("url", BROKEN)
def test_what_is_no_url_stays_as_it_is(url: str) -> None:
    assert canonical_url(url) == url


def test_lone_surrogates_cost_nothing_but_the_canonical_form() -> None:
    assert canonical_url(LONE_SURROGATE) == LONE_SURROGATE
    assert fingerprint(LONE_SURROGATE) != fingerprint("http://h/")
    assert host_key(LONE_SURROGATE) == ""


@pytest.mark.parametrize("query", ["??a&b", "?b&?a"])
def test_a_question_mark_in_the_query_is_part_of_it(query: str) -> None:
    assert canonical_url(f"http://h/{query}") == "http://h/??a&b"


@given(st.one_of(urls, st.text()))
@example("http://h/?&")
@example("data:x #y")
def test_a_canonical_form_is_its_own_canonical_form(url: str) -> None:
    canonical = canonical_url(url)
    assert canonical_url(canonical) == canonical
    assert fingerprint(canonical) == fingerprint(url)


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
    assert fingerprint("http://H:80/?b&a#x") == fingerprint("http://h/?a&b")
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

"""Which URLs belong to a board: by its domains and its regular expressions."""

import time
from collections.abc import Callable

import pytest

from weft.boards.board import Board, is_article_url, is_of, urls_of
from weft.boards.board.domains import domains_of
from weft.boards.board.patterns import MAX_URL_LENGTH, UrlPattern


def board(
    *entries: str,
    follow: tuple[str, ...] = (),
    articles: tuple[str, ...] = (),
    domains: tuple[str, ...] = (),
) -> Board:
    return Board(
        "b", entries or ("https://example.org/",), follow=follow, articles=articles, domains=domains
    )


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://example.org/a", True),
        ("http://EXAMPLE.org:8080/a", True),
        ("https://news.example.org/", True),
        ("https://a.b.example.org/", True),
        ("https://notexample.org/", False),
        ("https://example.org.evil.example/", False),
        ("https://example.com/?u=https://example.org/", False),
        ("https://org/", False),
        ("mailto:me@example.org", False),
        ("no url", False),
        ("", False),
    ],
)
def test_a_domain_counts_with_all_that_is_below_it(url: str, is_ours: bool) -> None:
    assert is_of(board("https://www.example.org/"), url) is is_ours
    assert is_of(board("https://other.example/", domains=("example.org",)), url) is is_ours


@pytest.mark.parametrize(
    ("entry", "domain"),
    [
        ("https://example.org/", "example.org"),
        ("https://www.example.org/a", "example.org"),
        ("https://news.example.org/", "news.example.org"),
        ("https://www.gov.uk/", "www.gov.uk"),
        ("https://www.gov.cn/", "www.gov.cn"),
        ("https://www.bbc.co.uk/", "bbc.co.uk"),
        ("https://www.nu.nl/", "nu.nl"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]/", "[::1]"),
        ("http://localhost/", "localhost"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
    ],
)
def test_the_domain_of_an_entry_is_its_site(entry: str, domain: str) -> None:
    assert domains_of(board(entry)) == {domain}
    assert is_of(board(entry), entry)


def test_domains_that_are_named_are_all_that_count() -> None:
    named = board("https://example.org/", domains=("a.example", "b.example"))
    assert domains_of(named) == {"a.example", "b.example"}
    assert not is_of(named, "https://example.org/")


def test_patterns_say_what_is_followed_within_the_domains() -> None:
    ours = board(follow=("/news/", r"\?page=\d+$"), articles=(r"/\d+\.html$",))
    assert is_of(ours, "https://example.org/news/")
    assert is_of(ours, "https://example.org/all?page=2")
    assert is_of(ours, "https://example.org/12.html")
    assert not is_of(ours, "https://example.org/about")
    assert not is_of(ours, "https://example.com/news/12.html")


def test_article_patterns_alone_do_not_limit_what_is_followed() -> None:
    ours = board(articles=(r"/\d+\.html$",))
    assert is_of(ours, "https://example.org/about")
    assert is_article_url(ours, "https://example.org/12.html")
    assert not is_article_url(ours, "https://example.org/about")
    assert not is_article_url(board(), "https://example.org/12.html")


def test_a_very_long_url_is_none_of_ours() -> None:
    assert is_of(board(), "https://example.org/" + "a" * (MAX_URL_LENGTH - 20))
    assert not is_of(board(), "https://example.org/" + "a" * (MAX_URL_LENGTH - 19))


def test_a_board_is_compiled_once_until_it_changes() -> None:
    first, second = board(follow=("/a/",)), board(follow=("/b/",))
    assert urls_of(first) is urls_of(first)
    for each, url, other in (
        (first, "https://example.org/a/", "https://example.org/b/"),
        (second, "https://example.org/b/", "https://example.org/a/"),
    ) * 2:
        assert is_of(each, url)
        assert not is_of(each, other)


def test_an_expression_that_is_slow_soon_costs_nothing_more() -> None:
    slow = UrlPattern(r"(a|a)*$")
    started_s = time.process_time()
    for number in range(500):
        length = 1_000 // (1 + number % 50)
        assert not slow.matches(f"https://example.org/{number}/" + "a" * length + "!b")
    assert time.process_time() - started_s < 3
    assert slow.longest < 100


def test_an_expression_that_is_slow_on_long_urls_still_works_on_short_ones() -> None:
    slow = UrlPattern(r"(-a|-a|b)*\.html$|/ok$")
    assert not slow.matches("https://example.org/" + "-a" * 900 + ".htm!.html/")
    assert slow.is_slow
    assert slow.matches("https://example.org/ok")


def test_slow_expressions_are_told() -> None:
    ours = board(follow=(r"(a|a)*$", "/fine/"))
    assert urls_of(ours).slow_patterns() == []
    assert not is_of(ours, "https://example.org/" + "a" * 1_000 + "!")
    [told] = urls_of(ours).slow_patterns()
    assert told.source == r"(a|a)*$"
    assert told.longest < MAX_URL_LENGTH


def test_the_hosts_of_a_board_are_put_together_once() -> None:
    """A board may have 10,000 entries, and is asked for the host of each."""
    many = board(*(f"https://h{number}.example/" for number in range(10_000)))

    def seconds_of(work: Callable[[], object]) -> float:
        began_s = time.process_time()
        work()
        return time.process_time() - began_s

    once_s = seconds_of(lambda: domains_of(many))
    assert urls_of(many).has_host("h9.example")
    assert not urls_of(many).has_host("example")
    assert seconds_of(lambda: [urls_of(many).has_host("h9.example") for _ in range(100)]) < once_s

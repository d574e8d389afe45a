import pytest
from scrapy import Spider
from scrapy.settings import Settings

from weft.engine.requests.rules import LinkRules, read_rules


class Allowed(Spider):
    name = "allowed"
    allowed_domains = ("Example.com", "x.org", None, "http://y.org/", "z.org:80")


def test_settings_of_scrapy_are_the_rules() -> None:
    settings = Settings({"DEPTH_LIMIT": 3, "DEPTH_PRIORITY": 1, "URLLENGTH_LIMIT": 50})
    assert read_rules(settings, Allowed()) == LinkRules(
        depth_limit=3,
        depth_priority=1,
        length_limit=50,
        allowed_domains=frozenset({"example.com", "x.org"}),
    )


def test_without_limits_nothing_is_dropped() -> None:
    rules = LinkRules()
    assert rules.dropped_by("http://h/" + "x" * 10_000, depth=10_000) == ""
    assert rules.is_allowed("anything")


@pytest.mark.parametrize(("depth", "is_dropped"), [(2, False), (3, False), (4, True)])
def test_links_that_are_too_deep_are_dropped(depth: int, is_dropped: bool) -> None:
    rule = LinkRules(depth_limit=3).dropped_by("http://h/", depth)
    assert rule == ("deeper than DEPTH_LIMIT 3" if is_dropped else "")


@pytest.mark.parametrize(("length", "is_dropped"), [(20, False), (21, True)])
def test_links_that_are_too_long_are_dropped(length: int, is_dropped: bool) -> None:
    rule = LinkRules(length_limit=20).dropped_by("http://h/".ljust(length, "x"), depth=1)
    assert rule == ("longer than URLLENGTH_LIMIT 20" if is_dropped else "")


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("example.com", True),
        ("www.example.com", True),
        ("a.b.example.com", True),
        ("badexample.com", False),
        ("example.com.evil.org", False),
        ("com", False),
        ("", False),
    ],
)
def test_domains_and_what_belongs_to_them_are_allowed(host: str, is_allowed: bool) -> None:
    assert LinkRules(allowed_domains=frozenset({"example.com"})).is_allowed(host) is is_allowed


def test_deep_links_come_later() -> None:
    assert LinkRules().priority(5, depth=3) == 5
    assert LinkRules(depth_priority=2).priority(5, depth=3) == -1

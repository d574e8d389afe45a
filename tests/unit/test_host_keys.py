"""From host names to host keys."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from weft.config import FrontierConfig, SharedConfig
from weft.engine.http.resolver import HostResolver
from weft.engine.politeness.hostkeys import ByAddress, ByDomain, ByName, domain_of, make_keys
from weft.frontier import MemoryFrontier
from weft.records import HostKey, PackedRequest
from weft.testing.frontier_contract import request


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("example.org", "example.org"),
        ("www.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("example.org.", "example.org"),
        # Customers of a hoster are apart from each other.
        ("me.github.io", "me.github.io"),
        ("www.me.github.io", "me.github.io"),
        # What is no domain of anyone stands for itself.
        ("co.uk", "co.uk"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("", ""),
        # Unknown endings, as the list says: a domain has one name more.
        ("a.site.localhost", "site.localhost"),
        ("db.internal", "db.internal"),
        # Exceptions and wild cards of the list.
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("www.foo.bar.kobe.jp", "foo.bar.kobe.jp"),
        # Other scripts.
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ],
)
def test_the_registrable_domain_of_a_host_name(name: str, domain: str) -> None:
    assert domain_of(name) == domain
    assert domain_of(domain) == domain


def test_domains_need_no_network_and_write_nothing(tmp_path: Path) -> None:
    code = """
import socket
def refuse(*arguments, **named):
    raise AssertionError("the network is asked")
socket.socket.connect = socket.getaddrinfo = refuse
from weft.engine.politeness.hostkeys import domain_of
assert domain_of("www.example.co.uk") == "example.co.uk"
"""
    places = ("HOME", "XDG_CACHE_HOME", "TLDEXTRACT_CACHE", "TMPDIR")
    environment = os.environ | dict.fromkeys(places, str(tmp_path))
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
    assert not [*tmp_path.iterdir()]


async def test_a_host_name_is_its_own_key_by_default() -> None:
    links = [request("http://www.example.org/")]
    assert await ByName().keyed(links) is links
    assert ByName().key("www.example.org") == await ByName().find("www.example.org")


async def test_hosts_of_one_domain_have_one_key() -> None:
    links = [request(f"http://{name}.example.org/", priority=3) for name in ("a", "b")]
    keyed = await ByDomain().keyed(links)
    assert [link.host for link in keyed] == ["example.org"] * 2
    assert [link.url for link in keyed] == [link.url for link in links]
    assert {link.priority for link in keyed} == {3}
    assert ByDomain().key("www.example.org") == await ByDomain().find("b.example.org")


# By address


class Names:
    """A resolver's answers, and who asked."""

    def __init__(self, **addresses: Sequence[str]) -> None:
        self.addresses = addresses
        self.asked: list[str] = []
        self.slow = Event()

    def look_up(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host == "slow":
            self.slow.wait(20)
        if host not in self.addresses:
            raise OSError("no such host")
        return self.addresses[host]

    def keys(self, frontier: MemoryFrontier, timeout_s: float = 20) -> ByAddress:
        resolver = HostResolver(cache_size=0, timeout_s=timeout_s, threads=8, look_up=self.look_up)
        return ByAddress(frontier, resolver)


def links_to(*names: str) -> list[PackedRequest]:
    return [request(f"http://{name}/") for name in names]


def hosts(links: Sequence[PackedRequest]) -> list[str]:
    return [link.host for link in links]


async def test_hosts_with_one_address_have_one_key() -> None:
    names = Names(a=["192.0.2.1"], b=["192.0.2.1"], c=["192.0.2.2"])
    keys = names.keys(MemoryFrontier())
    assert hosts(await keys.keyed(links_to("a", "b", "c"))) == ["192.0.2.1"] * 2 + ["192.0.2.2"]
    assert keys.key("b") == "192.0.2.1"
    assert keys.key("192.0.2.1") == "192.0.2.1"


async def test_of_several_addresses_everyone_takes_the_same() -> None:
    one, two = ["192.0.2.10", "192.0.2.9"], ["192.0.2.9", "192.0.2.10"]
    keys = Names(a=one, b=two).keys(MemoryFrontier())
    assert len({*hosts(await keys.keyed(links_to("a", "b")))}) == 1


async def test_an_address_is_its_own_key_and_is_not_asked_for() -> None:
    names = Names()
    keys = names.keys(MemoryFrontier())
    links = [request("http://192.0.2.7/"), request("http://[::1]/"), PackedRequest(1, "data:,", "")]
    assert hosts(await keys.keyed(links)) == ["192.0.2.7", "[::1]", ""]
    assert names.asked == []


async def test_a_slot_is_its_own_key_and_is_not_asked_for() -> None:
    names = Names(a=["192.0.2.1"], fast=["192.0.2.2"])
    keys = names.keys(MemoryFrontier())
    links = [request("http://a/", host="fast"), request("http://a/2")]
    assert hosts(await keys.keyed(links)) == ["fast", "192.0.2.1"]
    assert names.asked == ["a"]


async def test_a_host_that_cannot_be_looked_up_is_its_own_key() -> None:
    names = Names(a=["192.0.2.1"])
    frontier = MemoryFrontier()
    assert hosts(await names.keys(frontier).keyed(links_to("a", "gone"))) == ["192.0.2.1", "gone"]
    # And stays that, or its pages could be queued twice.
    names.addresses["gone"] = ["192.0.2.1"]
    assert hosts(await names.keys(frontier).keyed(links_to("gone"))) == ["gone"]


async def test_a_host_that_takes_long_to_look_up_is_its_own_key() -> None:
    names = Names(a=["192.0.2.1"], slow=["192.0.2.1"])
    keys = names.keys(MemoryFrontier(), timeout_s=0.05)
    try:
        assert hosts(await keys.keyed(links_to("a", "slow"))) == ["192.0.2.1", "slow"]
    finally:
        names.slow.set()
        keys.close()


async def test_who_comes_later_takes_what_the_frontier_has() -> None:
    frontier = MemoryFrontier()
    await Names(a=["192.0.2.1"]).keys(frontier).keyed(links_to("a"))
    later = Names(a=["192.0.2.2"])
    keys = later.keys(frontier)
    assert keys.key("a") == "a"
    assert await keys.find("a") == "192.0.2.1"
    assert later.asked == []


async def test_of_two_that_look_a_host_up_at_once_the_first_wins() -> None:
    frontier = MemoryFrontier()
    both = [Names(a=[address]).keys(frontier) for address in ("192.0.2.1", "192.0.2.2")]
    found = await asyncio.gather(*(keys.keyed(links_to("a")) for keys in both))
    assert len({*hosts([*found[0], *found[1]])}) == 1


async def test_a_host_is_looked_up_once() -> None:
    names = Names(a=["192.0.2.1"])
    keys = names.keys(MemoryFrontier())
    for _ in range(3):
        await keys.keyed(links_to("a", "a", "gone"))
    assert sorted(names.asked) == ["a", "gone"]


async def test_what_is_dropped_is_not_looked_up() -> None:
    names = Names(a=["192.0.2.1"])
    keys = names.keys(MemoryFrontier())
    dropped = request("http://a/", dropped_by="depth")
    assert await keys.keyed([dropped]) == [dropped]
    assert names.asked == []


async def test_a_store_that_has_forgotten_is_told_again() -> None:
    frontier = MemoryFrontier()
    keys = Names(a=["192.0.2.1"]).keys(frontier)
    await keys.keyed(links_to("a"))
    await frontier.clear()
    frontier.restarts += 1
    await keys.keyed([])
    assert await frontier.fix_keys([("a", "")]) == ["192.0.2.1"]


async def test_a_store_that_has_learned_otherwise_is_right() -> None:
    frontier = MemoryFrontier()
    keys = Names(a=["192.0.2.1"]).keys(frontier)
    await keys.keyed(links_to("a"))
    await frontier.clear()
    await frontier.fix_keys([("a", "192.0.2.2")])
    frontier.restarts += 1
    assert hosts(await keys.keyed(links_to("a"))) == ["192.0.2.2"]


async def test_only_so_many_names_are_remembered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.engine.politeness.hostkeys.MAX_KNOWN", 2)
    names = Names(**{name: ["192.0.2.1"] for name in "abc"})
    keys = names.keys(MemoryFrontier())
    for name in "abc":
        assert await keys.find(name) == "192.0.2.1"
    assert [keys.key(name) for name in "abc"] == ["a", "192.0.2.1", "192.0.2.1"]


@pytest.mark.parametrize(
    ("host_key", "kind"),
    [(HostKey.HOST, ByName), (HostKey.DOMAIN, ByDomain), (HostKey.IP, ByAddress)],
)
async def test_the_frontier_says_what_host_keys_are(host_key: HostKey, kind: type) -> None:
    config = FrontierConfig(shared=SharedConfig(host_key=host_key))
    assert type(make_keys(MemoryFrontier(config))) is kind

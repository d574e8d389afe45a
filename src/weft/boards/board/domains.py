"""The domains of a board: the hosts whose pages it may have.

A domain counts with all hosts below it. A board that names none has those of its entries, without
`www.`; unless what is left is no site but an ending that many share, such as gov.uk.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from weft.boards.board.board import Board
from weft.urls import host_key

if TYPE_CHECKING:
    from tldextract import TLDExtract

_WWW = "www."


def domains_of(board: Board) -> frozenset[str]:
    """All of them are as `host_key` writes host names."""
    return frozenset(board.domains or (_site_of(host_key(entry)) for entry in board.entries))


def is_within(domains: frozenset[str], host: str) -> bool:
    """Whether it is one of the domains, or below one."""
    while host not in domains:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


def domain_name(text: str) -> str:
    """A domain that a user wrote, as URLs have it; empty if it is none."""
    name = host_key(f"http://{text}/")
    is_plain = name and not set(text) & set("/:@?#*%\\ ") and not text.startswith(".")
    return name.rstrip(".") if is_plain else ""


@lru_cache(10_000)
def _site_of(host: str) -> str:
    site = host.removeprefix(_WWW)
    name, _, country = site.partition(".")
    # Only such endings are sites, too; and the list of endings takes a while to load.
    if site == host or len(country) != 2 or len(name) > len("gouv"):
        return site
    return site if _endings().extract_str(site).domain else host


@lru_cache(1)
def _endings() -> "TLDExtract":
    """The public suffix list that comes with tldextract: no network, and nothing is written."""
    import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), fallback_to_snapshot=True)

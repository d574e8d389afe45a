"""Download slots: `meta["download_slot"]` names the host key that a request counts for, in place of
its host name.

The downloader notes there which slot a request was in, as Scrapy's does, for spiders and extensions
to read. Copies of the request, and requests that are given the meta of its response, did not choose
that slot. So what the downloader notes is marked.
"""

from scrapy import Request

from weft.urls import host_key

#: The key in the meta of a request.
SLOT = "download_slot"


class NotedSlot(str):
    """A slot that the downloader noted, and nobody chose."""

    __slots__ = ()


def slot_of(request: Request) -> str:
    """The slot that a request chose; empty if that is none, or the slot of its host."""
    slot = request.meta.get(SLOT)
    if not slot or type(slot) is NotedSlot:
        return ""
    return "" if slot == host_key(request.url) else str(slot)


def is_bare(slot: str) -> bool:
    """Whether it can only be the name of a slot, and not that of a host."""
    return "." not in slot

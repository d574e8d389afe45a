"""Spiders that choose download slots."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class Slotted(Spider):
    """Asks each host for pages in the slots that are named; the name is in the URL."""

    name = "slotted"

    def __init__(self, sites: list[str], slots: list[str | None], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sites = sites
        self.slots = slots

    async def start(self) -> AsyncIterator[Any]:
        for number in range(2):
            for site in self.sites:
                for slot in self.slots:
                    yield self.ask(f"{site}echo?{slot}-{number}", slot)

    def ask(self, url: str, slot: str | None) -> Request:
        return Request(url, meta={"download_slot": slot})

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url, "slot": response.meta["download_slot"]}


class Wandering(Slotted):
    """Asks for a page that is retried, and is then led to another host."""

    name = "wandering"

    async def start(self) -> AsyncIterator[Any]:
        here, there = self.sites
        for slot in self.slots:
            for path in ("/p/2.html", f"/redirect-to?url={there}echo?{slot}"):
                yield self.ask(here.rstrip("/") + path + f"#{slot}", slot).replace(dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response)
        if "copied" not in response.meta:
            url = self.sites[0] if self.sites[1] in response.url else self.sites[1]
            meta = response.meta | {"copied": True}
            yield Request(f"{url}echo?copied", meta=meta, dont_filter=True)

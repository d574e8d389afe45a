from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

from shop.items import Offer, Product


class DetailsSpider(Spider):
    """Passes half-filled items and all sorts of values from the list page to the detail pages."""

    name = "details"

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for position, link in enumerate(response.css("li a::attr(href)").getall()):
            product = Product(listed_on=response.url, position=position)
            offer = Offer(product=f"offer {position}")
            yield response.follow(
                link,
                self.parse_detail,
                cb_kwargs={"product": product, "offer": offer, "place": (position, ("deep", None))},
                meta={
                    "tags": {"a", "b", position},
                    "frozen": frozenset({1, 2}),
                    "seen_at": datetime(2024, 2, 29, 12, position, tzinfo=UTC),
                    "day": date(2024, 2, 29),
                    "wait": timedelta(minutes=position),
                    "price": Decimal("9.90"),
                    "by_pair": {(1, 2): "pair", None: "none"},
                    "huge": 2**70,
                    "raw": b"\xff\x00",
                },
            )

    def parse_detail(
        self, response: Response, product: Product, offer: Offer, place: tuple[Any, ...]
    ) -> Any:
        meta = response.meta
        product["title"] = response.css("h1::text").get()
        product["url"] = response.url
        product["tags"] = sorted(map(str, meta["tags"]))
        product["seen_at"] = meta["seen_at"].isoformat()
        yield product
        offer.price = float(meta["price"] * 2)
        offer.links.append(response.url)
        yield offer
        yield {
            "types": [type(value).__name__ for value in (product, offer, place, place[1])],
            "values": repr([place, meta["frozen"], meta["day"], meta["wait"], meta["by_pair"]]),
            "huge": str(meta["huge"]),
            "raw": meta["raw"].hex(),
        }
        yield Request(response.urljoin("/echo?by=details"), self.parse_echo, cb_kwargs={"n": 1})

    def parse_echo(self, response: Response, n: int) -> Any:
        yield {"path": response.json()["path"], "n": n}  # type: ignore[attr-defined]

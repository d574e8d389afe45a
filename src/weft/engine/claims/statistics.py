"""Records in Scrapy's statistics what became of a crawl's claims, items and pages."""

from scrapy.statscollectors import StatsCollector

from weft.engine.claims.assembly import ClaimParts
from weft.engine.claims.delivery import Delivery


def record_statistics(stats: StatsCollector, claims: ClaimParts, delivery: Delivery) -> None:
    """Called once, when the crawl has ended."""
    counters = claims.settling.stats
    for name in counters.__struct_fields__:
        stats.set_value(f"frontier/{name}", getattr(counters, name))
    if claims.storing.known:
        stats.inc_value("dupefilter/filtered", claims.storing.known)
    found = {
        "sinks/items": delivery.items,
        "archives/pages": delivery.pages,
        "sinks/refused": delivery.refused,
        "frontier/late": claims.finisher.late,
    }
    for name, number in found.items():
        if number:
            stats.set_value(name, number)

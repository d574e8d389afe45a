"""Which links of a page a crawl follows: the rules of Scrapy's middlewares, from its settings."""

import msgspec
from scrapy import Spider
from scrapy.settings import BaseSettings


class LinkRules(msgspec.Struct, frozen=True):
    depth_limit: int = 0
    depth_priority: int = 0
    length_limit: int = 0
    #: If empty, all domains are allowed.
    allowed_domains: frozenset[str] = frozenset()

    def dropped_by(self, url: str, depth: int) -> str:
        """The rule that keeps a link out; empty if there is none."""
        if self.is_too_deep(depth):
            return f"deeper than DEPTH_LIMIT {self.depth_limit}"
        if 0 < self.length_limit < len(url):
            return f"longer than URLLENGTH_LIMIT {self.length_limit}"
        return ""

    def is_too_deep(self, depth: int) -> bool:
        return 0 < self.depth_limit < depth

    def is_allowed(self, host: str) -> bool:
        """Whether it is an allowed domain, or a subdomain of one."""
        if not self.allowed_domains or host in self.allowed_domains:
            return True
        parts = host.split(".")
        return any(".".join(parts[i:]) in self.allowed_domains for i in range(1, len(parts)))

    def priority(self, priority: int, depth: int) -> int:
        return priority - depth * self.depth_priority


def read_rules(settings: BaseSettings, spider: Spider | None) -> LinkRules:
    domains = getattr(spider, "allowed_domains", None) or ()
    return LinkRules(
        depth_limit=settings.getint("DEPTH_LIMIT"),
        depth_priority=settings.getint("DEPTH_PRIORITY"),
        length_limit=settings.getint("URLLENGTH_LIMIT"),
        # Scrapy also ignores what is not a domain, with a warning.
        allowed_domains=frozenset(
            domain.lower() for domain in domains if domain and not set(domain) & set(":/")
        ),
    )

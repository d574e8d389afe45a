"""robots.txt as Scrapy reads it, within bounds.

A robots.txt may name any number of user agents and then any number of rules, and each rule is kept
for each of them: 65 KB can take ten seconds. Rules with wildcards are tried one after the other for
every URL. So everything beyond these bounds is ignored; no file that people write reaches them.
"""

import re
from typing import Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.robotstxt import ProtegoRobotParser

#: The minimum that a crawler must read, according to RFC 9309.
MAX_BYTES = 500 * 1024
#: A smaller file cannot take long.
SMALL_BYTES = 4_096
#: Rules, each counted once for every user agent that it is for.
MAX_RULES = 100_000
#: Rules with wildcards.
MAX_WILDCARDS = 5_000

_LINE = re.compile(rb"[^\r\n]+")
_AGENT = re.compile(rb"\s*user", re.IGNORECASE)


class BoundedRobotParser(ProtegoRobotParser):
    def __init__(self, robotstxt_body: bytes, spider: Spider | None) -> None:
        super().__init__(bounded(robotstxt_body), spider)

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body, crawler.spider if crawler else None)


def bounded(body: bytes) -> bytes:
    """The part of it that is within the bounds."""
    body = body[:MAX_BYTES]
    if len(body) <= SMALL_BYTES:
        return body
    agents = rules = wildcards = 0
    is_group_new = False
    for line in _LINE.finditer(body):
        if _AGENT.match(line[0]):
            agents = agents + 1 if is_group_new else 1
            is_group_new = True
            continue
        is_group_new = False
        rules += agents
        wildcards += b"*" in line[0]
        if rules > MAX_RULES or wildcards > MAX_WILDCARDS:
            return body[: line.start()]
    return body

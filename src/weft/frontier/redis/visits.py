"""Visits and turns, as the script has them."""

from weft.frontier.redis.layout import RedisLayout
from weft.frontier.redis.scripts import PackedVisit, Visited
from weft.records import Turns, Visit


def pack_visit(visit: Visit, layout: RedisLayout) -> PackedVisit:
    return (
        visit.host,
        layout.bucket_of(visit.host).prefix,
        visit.concurrency,
        visit.under_way,
        visit.unused,
        visit.waiting,
        visit.sharing,
        -1 if visit.sent_ago_ms is None else visit.sent_ago_ms,
        visit.status,
        visit.retry_after_ms,
        visit.crawl_delay_ms,
    )


def unpack_turns(visited: Visited) -> Turns:
    next_in_ms = None if visited.next_in_ms < 0 else visited.next_in_ms
    return Turns(visited.given, next_in_ms, visited.sharing, visited.pause_ms)

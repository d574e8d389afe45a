"""Looking a URL up in every family, for people."""

from collections.abc import Iterator
from itertools import chain

import msgspec

from weft.config import FrontierConfig
from weft.frontier import policy
from weft.frontier.policy import HostRecord
from weft.frontier.rocks.db import RocksDb
from weft.frontier.rocks.layout import (
    BAD,
    CLAIMS,
    DROPPED,
    FETCHED,
    HOSTS,
    QUEUE,
    SEEN,
    WAITING,
    Drop,
    History,
    SeenRecord,
    due_at_ms,
    number_key,
)
from weft.frontier.rocks.unit import Unit
from weft.records import Claim, Explanation, HostState, PackedRequest


def explain(
    rocks: RocksDb, fingerprint: int, host: str | None, config: FrontierConfig
) -> Explanation:
    unit = Unit(rocks)
    key = number_key(fingerprint)
    seen = unit.records.load(SEEN, key, SeenRecord)
    histories = [history for _, history in histories_of(rocks, fingerprint)]
    fetches = sorted(chain(*(each.fetches for each in histories)), key=lambda fetch: fetch.at_ms)
    drop = None if seen else unit.records.load(DROPPED, key, Drop)
    bad_until = unit.records.get(BAD, key)
    claim = _find_claim(rocks, fingerprint)
    queued = _find_queued(rocks, fingerprint, host)
    waiting_until_ms, waiting = _find_waiting(rocks, fingerprint)
    request = claim.request if claim else queued or waiting
    state = _host_state(unit, request.host, config) if request else None
    return Explanation(
        fingerprint=fingerprint,
        url=next((each.url for each in (request, *histories, drop) if each), ""),
        kind=seen.kind if seen else None,
        seen_at_ms=seen.at_ms if seen else None,
        found_on=seen.found_on if seen else 0,
        found_on_url=_url_of(rocks, seen.found_on) if seen and seen.found_on else "",
        queued_kind=queued.kind if queued else None,
        claim=policy.explained(claim, state) if claim and state else None,
        host=state,
        dropped_by=drop.rule if drop else "",
        dropped_at_ms=drop.at_ms if drop else 0,
        bad_until_ms=int.from_bytes(bad_until, "big") if bad_until else 0,
        fetches=tuple(fetches[-policy.MAX_FETCHES :]),
        due_at_ms=waiting_until_ms,
        payload=request.payload if request else b"",
    )


def busiest_hosts(rocks: RocksDb, limit: int, config: FrontierConfig) -> list[HostState]:
    records = (
        (key.decode(), msgspec.msgpack.decode(raw, type=HostRecord))
        for key, raw in rocks.walk(HOSTS)
    )
    busy = [(host, record) for host, record in records if record.queued or record.claimed]
    busy.sort(key=lambda pair: (-pair[1].queued, pair[0]))
    return [policy.host_state(record, host, config) for host, record in busy[:limit]]


def histories_of(rocks: RocksDb, fingerprint: int) -> list[tuple[bytes, History]]:
    """What became of a URL, with the keys under which it stands, the oldest first."""
    found = rocks.under(FETCHED, number_key(fingerprint))
    return [(key, msgspec.msgpack.decode(raw, type=History)) for key, raw in found]


def claims(rocks: RocksDb) -> Iterator[Claim]:
    for _, raw in rocks.walk(CLAIMS):
        yield msgspec.msgpack.decode(raw, type=Claim)


def _find_claim(rocks: RocksDb, fingerprint: int) -> Claim | None:
    return next((c for c in claims(rocks) if c.request.is_known_as(fingerprint)), None)


def _find_queued(rocks: RocksDb, fingerprint: int, host: str | None) -> PackedRequest | None:
    prefix = b"" if host is None else host.encode() + b"\0"
    for _, raw in rocks.under(QUEUE, prefix):
        request = msgspec.msgpack.decode(raw, type=PackedRequest)
        if request.is_known_as(fingerprint):
            return request
    return None


def _find_waiting(rocks: RocksDb, fingerprint: int) -> tuple[int, PackedRequest | None]:
    """When a page is due, and its request."""
    for key, raw in rocks.walk(WAITING):
        request = msgspec.msgpack.decode(raw, type=PackedRequest)
        if request.is_known_as(fingerprint):
            return due_at_ms(key), request
    return 0, None


def _host_state(unit: Unit, host: str, config: FrontierConfig) -> HostState:
    return policy.host_state(unit.host(host), host, config)


def _url_of(rocks: RocksDb, fingerprint: int) -> str:
    for _, history in histories_of(rocks, fingerprint):
        return history.url
    claim = _find_claim(rocks, fingerprint)
    return claim.request.url if claim else ""

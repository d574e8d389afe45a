"""Describes what a frontier knows about a URL in sentences."""

from collections.abc import Iterator
from datetime import datetime

from weft.boards.refresh import in_words
from weft.records import Ending, Explanation, Fetch
from weft.services.visits import PageVisits, visits_of

_ENDINGS = {
    Ending.DONE: "fetched",
    Ending.REPLACED: "tried",
    Ending.FAILED: "failed",
    Ending.DROPPED: "refused",
}


def tell(url: str, told: Explanation, *, now_ms: int) -> Iterator[str]:
    """The story of a URL."""
    visits = visits_of(told.payload)
    yield url
    yield f"  {_tell_origin(told, visits)}"
    for fetch in told.fetches:
        yield f"  {_tell_fetch(fetch)}"
    if told.claim:
        yield f"  claimed by {told.claim.owner} until {_at(told.claim.until_ms)}"
    elif told.is_parked:
        yield f"  waiting in a compressed block of {_tell_host(told, now_ms)}"
    elif told.queued_kind is not None:
        kind = told.queued_kind.name.lower()
        yield f"  waiting in the {kind} queue of {_tell_host(told, now_ms)}"
    if told.due_at_ms:
        yield f"  {_tell_due(told, now_ms)}"
    if visits:
        yield from (f"  {line}" for line in _tell_visits(visits))
    if told.bad_until_ms > now_ms:
        yield f"  retried if found again after {_at(told.bad_until_ms)}"


def _tell_origin(told: Explanation, visits: PageVisits | None) -> str:
    if visits and visits.is_entry:
        return f"an entry of the board {visits.board}"
    if told.seen_at_ms is not None and told.found_on:
        return f"seen {_at(told.seen_at_ms)} on {told.found_on_url or 'another page'}"
    if told.seen_at_ms is not None:
        return f"seen {_at(told.seen_at_ms)} as a start request"
    if told.fetches or told.claim or told.is_parked or told.queued_kind is not None:
        return "requested without the duplicate filter: as a start request, or with dont_filter"
    if told.kind is not None:
        return "fetched elsewhere, before this job"
    if told.dropped_by:
        return f"dropped {_at(told.dropped_at_ms)}: {told.dropped_by}"
    return "never seen in this job"


def _tell_fetch(fetch: Fetch) -> str:
    parts = [f"{_ENDINGS[fetch.ending]} {_at(fetch.at_ms)}"]
    if fetch.status:
        parts.append(f"status {fetch.status}")
    if fetch.note and fetch.note != f"status {fetch.status}":
        parts.append(fetch.note)
    return ", ".join(parts)


def _tell_due(told: Explanation, now_ms: int) -> str:
    if told.due_at_ms <= now_ms:
        return f"due again since {_at(told.due_at_ms)}"
    wait = in_words((told.due_at_ms - now_ms) / 1000)
    return f"due again at {_at(told.due_at_ms)}, in {wait}"


def _tell_visits(visits: PageVisits) -> Iterator[str]:
    whose = "visited again" if visits.is_entry else f"a page of the board {visits.board}"
    if visits.why or not visits.is_entry:
        yield f"{whose}: {visits.why}" if visits.why else whose
    if visits.brought:
        yield f"its last visits, the latest first: {', '.join(visits.brought)}"


def _tell_host(told: Explanation, now_ms: int) -> str:
    host = told.host
    if host is None:
        return "its host"
    place = f"{host.host}, one of {host.queued + host.parked:,}"
    if host.bad_until_ms > now_ms:
        return f"{place}; the host does not exist, retried {_at(host.bad_until_ms)}"
    if host.next_at_ms > now_ms:
        why = "backing off" if host.backoff else "within its delay"
        return f"{place}; the host is {why} until {_at(host.next_at_ms)}"
    return place


def _at(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().isoformat(" ", "seconds")

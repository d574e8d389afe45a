"""Describes the state of a crawl in sentences."""

from collections.abc import Iterator, Sequence

from weft.cli.output import count
from weft.config import DEFAULT_BAD_URL_MS
from weft.records import HostState, SeenReport, Stats
from weft.services.frontiers import Look

#: Hosts that are named; the others are counted.
NAMED = 3
_HOUR_MS = 3_600_000


def tell(look: Look, *, now_ms: int) -> Iterator[str]:
    """Describe a frontier line by line; zero counts are left out."""
    yield _tell_end(look)
    for line in (*_left(look, now_ms), *_ended(look.stats), *_found(look), *_troubles(look.stats)):
        yield f"  {line}"


def _tell_end(look: Look) -> str:
    stats = look.stats
    if stats.pending:
        verb = "is" if stats.pending == 1 else "are"
        return f"Not finished: {count(stats.pending, 'request')} {verb} left."
    if stats.waiting:
        return "Resting: nothing is left until a page is due again."
    if look.is_finished or stats.held:
        return f"Finished: nothing is left{' except what is held' if stats.held else ''}."
    if not stats.added:
        return "Nothing has been found yet, not even a start request."
    return "Nothing is left, but the crawl has not ended yet; run the same command to end it."


# What is left to do


def _left(look: Look, now_ms: int) -> Iterator[str]:
    stats = look.stats
    held = [host for host in look.hosts if host.bad_until_ms > now_ms]
    waiting = [
        host for host in look.hosts if host.queued + host.parked and host.bad_until_ms <= now_ms
    ]
    if queued := stats.queued - stats.held:
        kinds = _kinds(stats) if not stats.held else ""
        yield f"{queued:,} queued for {count(len(waiting), 'host')}{kinds}"
    if stats.parked:
        yield f"{stats.parked:,} parked in compressed blocks, because their buckets are full"
    if stats.waiting:
        when = f", the first {_in(look.next_due_in_ms)}" if look.next_due_in_ms is not None else ""
        yield f"{count(stats.waiting, 'page')} waiting until they are due again{when}"
    if stats.claimed:
        yield f"{stats.claimed:,} claimed by {'a worker' if stats.claimed == 1 else 'workers'}"
    if waiting:
        yield _tell_next(waiting, now_ms)
    if tired := [host for host in waiting if host.backoff and host.next_at_ms > now_ms]:
        verb = "backs" if len(tired) == 1 else "back"
        yield f"{count(len(tired), 'host')} {verb} off after 429 or 503: {_names(tired)}"
    if stats.held:
        yield _tell_held(stats.held, held, now_ms)


def _kinds(stats: Stats) -> str:
    kinds = ((stats.queued_data, "data page"), (stats.queued_nav, "nav page"))
    return ": " + ", ".join(count(number, noun) for number, noun in kinds if number)


def _tell_next(waiting: Sequence[HostState], now_ms: int) -> str:
    host = min(waiting, key=lambda host: host.next_at_ms)
    if host.next_at_ms <= now_ms:
        return "the next can be fetched now"
    why = "asked for a pause" if host.backoff else "has a delay"
    return f"the next can be fetched {_in(host.next_at_ms - now_ms)}: {host.host} {why}"


def _tell_held(number: int, held: Sequence[HostState], now_ms: int) -> str:
    whose = f": {_names(held)}" if held else ""
    first_ms = min((host.bad_until_ms for host in held), default=now_ms) - now_ms
    return (
        f"{number:,} held, because their hosts do not exist{whose}; "
        f"run the same command to retry them, the first {_in(first_ms)}"
    )


def _names(hosts: Sequence[HostState]) -> str:
    names = ", ".join(host.host for host in hosts[:NAMED])
    return f"{names} and {len(hosts) - NAMED:,} more" if len(hosts) > NAMED else names


def _in(ms: int) -> str:
    if ms <= 0:
        return "now"
    if ms < 100_000:
        return f"in {ms / 1000:.3g} s"
    return f"in {ms / 60_000:,.0f} min"


# What was done


def _ended(stats: Stats) -> Iterator[str]:
    yield f"{count(stats.done, 'page')} done"
    if stats.replaced:
        yield f"{count(stats.replaced, 'request')} replaced: retried or redirected"
    if stats.failed:
        what, hours = count(stats.failed, "request"), DEFAULT_BAD_URL_MS // _HOUR_MS
        yield f"{what} failed; retried if found again after {hours} hours"
    if stats.refused:
        yield f"{count(stats.refused, 'request')} refused, for example by robots.txt or a limit"


def _found(look: Look) -> Iterator[str]:
    stats = look.stats
    if look.seen:
        yield _tell_seen(look.seen)
    for number, what in (
        (stats.known, "to known URLs"),
        (stats.dropped, "dropped by a rule"),
        (stats.skipped_bad, "to URLs that had failed before"),
    ):
        if number:
            yield f"{count(number, 'link')} {what}"


def _tell_seen(seen: SeenReport) -> str:
    known = f"{count(seen.urls, 'URL')} known"
    if seen.fill is None or seen.error is None:
        return f"{known}, exactly, in {count(seen.parts, 'set')}"
    return (
        f"{known}, in {count(seen.parts, 'layer')} of Bloom filters of {seen.size_bytes:,} bytes, "
        f"{seen.fill:.1%} full; about {seen.error:.4%} of new URLs are mistaken for known ones"
    )


def _troubles(stats: Stats) -> Iterator[str]:
    for number, noun, what in (
        (stats.reclaimed, "claim", "taken back from workers that did not renew them"),
        (stats.released, "claim", "given back untouched"),
        (stats.stale, "outcome", "ignored, having come too late"),
    ):
        if number:
            yield f"{count(number, noun)} {what}"

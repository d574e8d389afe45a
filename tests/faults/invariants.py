"""What must hold after whatever has happened, seen from the outside: by the log of the site, by the
sink, by Redis."""

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import md5
from itertools import pairwise
from pathlib import Path

from watch import LeaseWatch, Tenure
from weft.testing import Hit

#: A request that was sent in time may come so much later.
TOLERANCE_S = 0.3


def check_sink(output: Path, wanted: Collection[str]) -> None:
    """Every page once, and nothing else."""
    urls = Counter(json.loads(line)["url"] for line in output.read_text().splitlines())
    twice = [url for url, many in urls.items() if many > 1]
    assert not twice, f"{len(twice)} pages are there twice, such as {twice[:3]}"
    missing = sorted(set(wanted) - urls.keys())
    assert not missing, f"{len(missing)} pages are missing, such as {missing[:3]}"
    assert urls.keys() == set(wanted)


def by_host(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    found: dict[str, list[Hit]] = defaultdict(list)
    for hit in sorted(hits, key=lambda hit: hit.at_s):
        found[hit.host].append(hit)
    return found


def check_delays(hits: Iterable[Hit], delays_s: Mapping[str, float], tolerance_s: float) -> None:
    """Requests to a host are its delay apart, whoever sends them. Between sending and the note in
    the log each can be held up for `tolerance_s`, or for longer if the site itself was."""
    early = [
        (host, round(later.at_s - earlier.at_s, 3), earlier, later)
        for host, own in by_host(hits).items()
        for earlier, later in pairwise(own)
        if later.at_s - earlier.at_s + earlier.held_up_s < delays_s.get(host, 0.0) - tolerance_s
    ]
    assert not early, f"{len(early)} requests came too early, such as {early[:3]}"


def check_concurrency(
    hits: Iterable[Hit], hosts: Collection[str], concurrency: int, latency_s: float
) -> None:
    """A host has no more requests under way than it may; each is for the time of its latency."""
    window_s = latency_s - 0.01
    for host, own in by_host(hits).items():
        if host not in hosts:
            continue
        crowds = [
            (first, last)
            for first, last in zip(own, own[concurrency:], strict=False)
            if last.at_s - first.at_s < window_s
        ]
        assert not crowds, (host, len(crowds), crowds[0])


def check_progress(
    hits: Iterable[Hit],
    *,
    over_at_s: float,
    limit_s: float,
    from_s: float | None = None,
    away_s: Sequence[tuple[float, float]] = (),
) -> None:
    """Until the crawl was over there was work, and nothing stood still for longer than this while
    the store was up. `away_s`: from when until when it was away."""
    times_s = sorted(hit.at_s for hit in hits)
    start_s = times_s[0] if from_s is None else from_s
    for earlier_s, later_s in pairwise([start_s, *times_s, over_at_s]):
        still_s = later_s - earlier_s
        for gone_s, back_s in away_s:
            still_s -= max(0.0, min(back_s, later_s) - max(gone_s, earlier_s))
        when_s = earlier_s - start_s
        assert still_s <= limit_s, f"nothing was fetched for {still_s:.1f} s, {when_s:.1f} s in"


def bucket_of(host: str, buckets: int) -> int:
    return int.from_bytes(md5(host.encode(), usedforsecurity=False).digest(), "big") % buckets


def check_owners(
    hits: Sequence[Hit], watch: LeaseWatch, names: Mapping[str, str], buckets: int
) -> None:
    """Every request came from the worker that had the lease of its bucket at that time.

    Leases of a bucket follow each other, and so must the requests that were made under them.
    `names`: the nodes by their addresses.
    """
    assert watch.looks
    assert not watch.wrongs, watch.wrongs[:3]
    place: Counter[int] = Counter()
    strays: list[str] = []
    for hit in sorted(hits, key=lambda hit: hit.at_s):
        bucket = bucket_of(hit.host, buckets)
        tenures = watch.tenures[bucket]
        while place[bucket] < len(tenures) and tenures[place[bucket]].to_s < hit.at_s - TOLERANCE_S:
            place[bucket] += 1
        own = (
            i
            for i in range(place[bucket], len(tenures))
            if watch.nodes.get(tenures[i].owner) == names.get(hit.client)
            and _has_lease(tenures[i], hit.at_s, watch)
        )
        found = next(own, None)
        if found is None:
            strays.append(_story(hit, bucket, watch, names))
        else:
            place[bucket] = found
    assert not strays, f"{len(strays)} of {len(hits)} requests, such as:\n" + "\n".join(strays[:5])


def _has_lease(tenure: Tenure, at_s: float, watch: LeaseWatch) -> bool:
    """Whether it may have been held then: between two looks nobody knows."""
    if not tenure.from_s <= at_s <= tenure.to_s + TOLERANCE_S:
        return False
    return at_s <= _until_s(tenure, at_s, watch) + TOLERANCE_S


def _until_s(tenure: Tenure, at_s: float, watch: LeaseWatch) -> float:
    """Until when it was to last at most, by the looks before and after. It may have been renewed
    since the one before, but not while the store was away."""
    before = max(bisect_right(tenure.seen_s, at_s) - 1, 0)
    known_s = tenure.until_s[before]
    has_after = before + 1 < len(tenure.seen_s)
    after_s = tenure.seen_s[before + 1] if has_after else tenure.to_s
    renewed_s = tenure.until_s[before + 1] if has_after else known_s
    failed = bisect_right(watch.failed_s, tenure.seen_s[before])
    if failed < len(watch.failed_s) and watch.failed_s[failed] < after_s:
        last_s = watch.failed_s[failed] + watch.lease_s
        renewed_s = min(renewed_s, last_s) if has_after else last_s
    return max(known_s, renewed_s)


def _story(hit: Hit, bucket: int, watch: LeaseWatch, names: Mapping[str, str]) -> str:
    around = [
        f"{watch.nodes.get(each.owner)} {each.token}: {each.from_s:.2f} to {each.to_s:.2f}, "
        f"until {each.until_s[-1]:.2f}"
        for each in watch.tenures[bucket]
        if each.from_s - 10 < hit.at_s < each.to_s + 10
    ]
    return f"{hit} by {names.get(hit.client)}, bucket {bucket}; {around}"

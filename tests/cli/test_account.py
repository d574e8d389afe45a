"""How a crawl stands, in sentences."""

from weft.cli.account import tell
from weft.records import HostState, SeenKind, SeenReport, Stats
from weft.services.frontiers import Look

NOW = 1_000_000_000_000


def host(
    name: str, queued: int = 1, *, next_at_ms: int = 0, backoff: int = 0, bad_until_ms: int = 0
) -> HostState:
    return HostState(name, queued, 0, next_at_ms, 0, backoff, bad_until_ms)


def told(look: Look) -> str:
    return "\n".join(tell(look, now_ms=NOW))


def first(look: Look) -> str:
    return next(iter(tell(look, now_ms=NOW)))


def test_a_job_that_has_not_begun() -> None:
    assert first(Look(Stats())) == "Nothing has been found yet, not even a start request."


def test_a_finished_job() -> None:
    look = Look(Stats(added=3, done=3, hosts=1), is_finished=True)
    assert first(look) == "Finished: nothing is left."
    assert "3 pages done" in told(look)


def test_a_crawl_that_is_about_to_end_is_not_finished_yet() -> None:
    assert first(Look(Stats(added=3, done=3))) == (
        "Nothing is left, but the crawl has not ended yet; run the same command to end it."
    )


def test_what_is_left() -> None:
    stats = Stats(queued_nav=2, queued_data=1500, claimed=1, parked=30, added=2000, hosts=9)
    text = told(Look(stats, [host("a", 1000), host("b", 502)]))
    assert text.startswith("Not finished: 1,533 requests are left.\n")
    assert "1,502 queued for 2 hosts: 1,500 data pages, 2 nav pages\n" in text
    assert "30 parked in compressed blocks, because their buckets are full\n" in text
    assert "1 claimed by a worker\n" in text
    assert "the next can be fetched now\n" in text


def test_pages_that_wait_until_they_are_due() -> None:
    stats = Stats(added=3, done=3, hosts=1, waiting=1_200)
    text = told(Look(stats, is_finished=True, next_due_in_ms=90_000))
    assert text.startswith("Resting: nothing is left until a page is due again.\n")
    assert "1,200 pages waiting until they are due again, the first in 90 s\n" in text


def test_what_is_not_there_is_not_told() -> None:
    text = told(Look(Stats(claimed=2, added=2)))
    assert "queued" not in text
    assert "parked" not in text
    assert "the next" not in text
    assert "failed" not in text


def test_requests_that_are_held_are_told_with_their_hosts_and_do_not_count() -> None:
    stats = Stats(queued_data=7, held=5, added=9)
    gone = [host(f"gone{i}", bad_until_ms=NOW + 60_000 * (i + 1)) for i in range(5)]
    text = told(Look(stats, [host("a", 2), *gone]))
    assert text.startswith("Not finished: 2 requests are left.\n")
    assert "2 queued for 1 host" in text
    assert "5 held, because their hosts do not exist: gone0, gone1, gone2 and 2 more" in text
    assert "run the same command to retry them, the first in 60 s" in text


def test_held_requests_alone_leave_a_job_finished() -> None:
    stats = Stats(queued_data=1, held=1, added=9)
    look = Look(stats, [host("gone", bad_until_ms=NOW + 1)], is_finished=True)
    assert first(look) == "Finished: nothing is left except what is held."
    assert first(Look(stats)) == "Finished: nothing is left except what is held."


def test_what_has_been_held_for_its_time_is_tried_again() -> None:
    stats = Stats(queued_data=1, held=1, added=9)
    text = told(Look(stats, [host("gone", bad_until_ms=NOW - 1)]))
    assert "run the same command to retry them, the first now" in text


def test_a_host_that_came_back_is_not_taken_for_one_that_does_not_exist() -> None:
    stats = Stats(queued_data=3, held=1, added=9)
    hosts = [host("back", 2, bad_until_ms=NOW - 1), host("gone", bad_until_ms=NOW + 1)]
    text = told(Look(stats, hosts))
    assert "2 queued for 1 host" in text
    assert "hosts do not exist: gone;" in text


def test_when_the_next_is_due_and_what_it_waits_for() -> None:
    delayed = host("slow", next_at_ms=NOW + 2_500)
    tired = host("tired", next_at_ms=NOW + 600_000, backoff=3)
    both = told(Look(Stats(queued_data=2, added=2), [tired, delayed]))
    assert "the next can be fetched in 2.5 s: slow has a delay\n" in both
    alone = told(Look(Stats(queued_data=1, added=2), [tired]))
    assert "the next can be fetched in 10 min: tired asked for a pause\n" in alone
    assert "1 host backs off after 429 or 503: tired\n" in both


def test_what_became_of_requests() -> None:
    stats = Stats(added=20, done=10, replaced=3, failed=2, refused=1, dropped=4, known=50)
    stats.skipped_bad, stats.reclaimed, stats.released, stats.stale = 6, 7, 8, 9
    text = told(Look(stats))
    for line in (
        "10 pages done",
        "3 requests replaced: retried or redirected",
        "2 requests failed; retried if found again after 24 hours",
        "1 request refused, for example by robots.txt or a limit",
        "50 links to known URLs",
        "4 links dropped by a rule",
        "6 links to URLs that had failed before",
        "7 claims taken back from workers that did not renew them",
        "8 claims given back untouched",
        "9 outcomes ignored, having come too late",
    ):
        assert f"  {line}\n" in f"{text}\n", line


def test_what_is_remembered_of_urls() -> None:
    exact = SeenReport(SeenKind.EXACT, 12_345, 16, 1)
    assert "12,345 URLs known, exactly, in 16 sets" in told(Look(Stats(added=1), seen=exact))
    bloom = SeenReport(SeenKind.BLOOM, 12_345, 2, 4_000, fill=0.25, error=0.0005)
    text = told(Look(Stats(added=1), seen=bloom))
    assert "12,345 URLs known, in 2 layers of Bloom filters of 4,000 bytes, 25.0% full" in text
    assert "about 0.0500% of new URLs are mistaken for known ones" in text

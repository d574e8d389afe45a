import pytest

from weft.config import FrontierConfig, HostLimits
from weft.frontier import policy
from weft.frontier.policy import HostRecord
from weft.records import Ending, HostState, Outcome, PackedRequest, Stats

NOW = 1_000_000
PLAIN = FrontierConfig(limits=HostLimits(delay_ms=0, concurrency=3))
POLITE = FrontierConfig(limits=HostLimits(delay_ms=500, concurrency=3))
PAUSES = FrontierConfig(backoff_ms=100, max_backoff_ms=1_000, max_pause_ms=5_000, bad_host_ms=700)


def told(status: int = 200, ending: Ending = Ending.DONE, **fields: int | bool) -> Outcome:
    return Outcome(1, ending, status, **fields)  # type: ignore[arg-type]


def noted(record: HostRecord, *outcomes: Outcome) -> HostRecord:
    for outcome in outcomes:
        policy.note_outcome(record, "a", outcome, PAUSES, NOW)
    return record


# Delay


def test_delay_is_the_longer_of_ours_and_the_crawl_delay() -> None:
    assert policy.delay_ms(HostRecord(), "a", POLITE) == 500
    assert policy.delay_ms(HostRecord(crawl_delay_ms=499), "a", POLITE) == 500
    assert policy.delay_ms(HostRecord(crawl_delay_ms=501), "a", POLITE) == 501


def test_single_host_has_a_delay_of_its_own() -> None:
    config = FrontierConfig(limits_by_host={"b": HostLimits(delay_ms=7)})
    assert [policy.delay_ms(HostRecord(), host, config) for host in "ab"] == [0, 7]


# Allowance


@pytest.mark.parametrize(
    ("record", "allowed"),
    [
        (HostRecord(), 0),
        (HostRecord(queued_nav=1), 1),
        (HostRecord(queued_nav=1, queued_data=1), 2),
        (HostRecord(queued_data=9), 3),
        (HostRecord(queued_data=9, claimed=2), 1),
        (HostRecord(queued_data=9, claimed=3), 0),
        (HostRecord(queued_data=9, claimed=4), 0),
        (HostRecord(queued_data=9, next_at_ms=NOW), 3),
        (HostRecord(queued_data=9, next_at_ms=NOW + 1), 0),
        (HostRecord(queued_data=9, bad_until_ms=NOW), 3),
        (HostRecord(queued_data=9, bad_until_ms=NOW + 1), 0),
        (HostRecord(queued_data=9, crawl_delay_ms=1), 1),
        (HostRecord(crawl_delay_ms=1), 0),
    ],
)
def test_allowance(record: HostRecord, allowed: int) -> None:
    assert policy.allowance(record, "a", "me", PLAIN, NOW) == allowed


def test_with_a_delay_one_is_allowed_at_a_time_if_any() -> None:
    assert policy.allowance(HostRecord(queued_data=9, claimed=2), "a", "me", POLITE, NOW) == 1
    assert policy.allowance(HostRecord(queued_data=9, claimed=3), "a", "me", POLITE, NOW) == 0


# The line of ready hosts


@pytest.mark.parametrize(
    ("record", "ready_at_ms"),
    [
        (HostRecord(), 0),
        (HostRecord(queued_nav=1), NOW),
        (HostRecord(queued_data=1, claimed=3), 0),
        (HostRecord(queued_data=1, claimed=2), NOW),
        (HostRecord(queued_data=1, ready_at_ms=NOW - 5), NOW - 5),
        (HostRecord(queued_data=1, next_at_ms=NOW + 5), NOW + 5),
        (HostRecord(queued_data=1, bad_until_ms=NOW + 6, next_at_ms=NOW + 5), NOW + 6),
        (HostRecord(queued_data=1, next_at_ms=NOW + 5, ready_at_ms=NOW - 5), NOW + 5),
        (HostRecord(queued_data=1, next_at_ms=NOW - 9), NOW),
    ],
)
def test_host_stands_in_line_from_when_it_can_be_claimed(
    record: HostRecord, ready_at_ms: int
) -> None:
    assert policy.ready_at_ms(record, "a", PLAIN, NOW) == ready_at_ms


@pytest.mark.parametrize(
    ("limit", "hosts", "share"), [(10, 2, 5), (10, 3, 3), (2, 5, 1), (10, 0, 10), (0, 0, 1)]
)
def test_hosts_share_a_claim(limit: int, hosts: int, share: int) -> None:
    assert policy.share(limit, hosts) == share


# Claiming


@pytest.mark.parametrize(
    ("count", "config", "next_at_ms"), [(2, PLAIN, 0), (1, POLITE, NOW + 500), (0, POLITE, 0)]
)
def test_a_claim_starts_the_delay(count: int, config: FrontierConfig, next_at_ms: int) -> None:
    record = HostRecord(claimed=1)
    policy.note_claimed(record, "a", "me", count, config, NOW)
    assert (record.claimed, record.next_at_ms) == (1 + count, next_at_ms)


@pytest.mark.parametrize(
    ("config", "next_at_ms", "later_ms"),
    [(PLAIN, 0, 0), (POLITE, 0, NOW - 30 + 500), (POLITE, NOW + 9_000, NOW + 9_000)],
)
def test_the_delay_counts_from_sending(
    config: FrontierConfig, next_at_ms: int, later_ms: int
) -> None:
    record = HostRecord(next_at_ms=next_at_ms)
    policy.note_sent(record, "a", 30, config, NOW)
    assert record.next_at_ms == later_ms


def test_owners_are_counted_by_their_claims() -> None:
    record = HostRecord()
    policy.note_claimed(record, "a", "me", 2, PLAIN, NOW)
    policy.note_claimed(record, "a", "you", 1, PLAIN, NOW)
    assert record.owners == [("me", 2), ("you", 1)]
    policy.note_ended(record, "you")
    policy.note_ended(record, "me")
    assert (record.owners, record.claimed) == ([("me", 1)], 1)


@pytest.mark.parametrize(
    ("owners", "workers", "delay_ms", "may"),
    [
        ([], 1, 0, True),
        ([("you", 1)], 1, 0, False),
        ([("you", 1), ("me", 1)], 1, 0, True),
        ([("you", 1)], 2, 0, True),
        ([("you", 1), ("she", 1)], 2, 0, False),
        ([("you", 1)], 2, 500, False),
        ([("me", 1)], 2, 500, True),
    ],
)
def test_so_many_owners_may_serve_a_host(
    owners: list[tuple[str, int]], workers: int, delay_ms: int, may: bool
) -> None:
    config = FrontierConfig(limits=HostLimits(delay_ms=delay_ms), workers_per_host=workers)
    assert policy.may_serve(HostRecord(owners=owners), "a", "me", config) is may


# Outcomes


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_has_had_enough_is_left_alone(status: int) -> None:
    paused = HostRecord(backoff=1, next_at_ms=NOW + 100, is_pausing=True)
    assert noted(HostRecord(), told(status)) == paused


def test_pause_doubles_up_to_its_bound() -> None:
    record = HostRecord()
    pauses = []
    for _ in range(60):
        record.next_at_ms = 0
        noted(record, told(429))
        pauses.append(record.next_at_ms - NOW)
    assert pauses[:5] == [100, 200, 400, 800, 1_000]
    assert set(pauses[5:]) == {1_000}


def test_answers_that_come_during_a_pause_count_once() -> None:
    record = noted(HostRecord(), told(429), told(429), told(503))
    assert (record.backoff, record.next_at_ms) == (1, NOW + 100)


@pytest.mark.parametrize("backoff", [0, 1, 2])
def test_a_delay_is_no_pause(backoff: int) -> None:
    record = noted(HostRecord(backoff=backoff, next_at_ms=NOW + 50), told(429))
    assert (record.backoff, record.next_at_ms) == (backoff + 1, NOW + 100 * 2**backoff)


def test_the_delay_of_a_claim_ends_the_pause_before_it() -> None:
    record = HostRecord(backoff=1, next_at_ms=NOW, is_pausing=True)
    policy.note_claimed(record, "a", "me", 1, POLITE, NOW)
    assert not policy.is_pausing(record, NOW + 1)


@pytest.mark.parametrize(
    ("asked_ms", "pause_ms"), [(0, 100), (99, 100), (3_000, 3_000), (10**15, 5_000)]
)
def test_retry_after_lengthens_the_pause_up_to_its_bound(asked_ms: int, pause_ms: int) -> None:
    record = noted(HostRecord(), told(429, retry_after_ms=asked_ms))
    assert record.next_at_ms == NOW + pause_ms


def test_a_pause_is_never_shortened() -> None:
    record = noted(HostRecord(), told(429, retry_after_ms=3_000), told(429))
    assert record.next_at_ms == NOW + 3_000


@pytest.mark.parametrize("status", [200, 301, 404, 500])
def test_any_other_answer_ends_the_back_off(status: int) -> None:
    record = noted(HostRecord(backoff=4, next_at_ms=NOW + 9), told(status))
    assert record == HostRecord(next_at_ms=NOW + 9)


def test_a_good_answer_to_what_was_under_way_does_not_end_the_back_off() -> None:
    record = noted(HostRecord(), told(429), told(200))
    assert (record.backoff, record.next_at_ms) == (1, NOW + 100)


def test_what_says_nothing_about_the_host_leaves_its_back_off() -> None:
    refused = told(200, Ending.DROPPED)
    no_answer = told(0, Ending.FAILED)
    assert noted(HostRecord(backoff=4), refused, no_answer).backoff == 4


def test_crawl_delay_is_kept_up_to_its_bound() -> None:
    assert noted(HostRecord(), told(crawl_delay_ms=40)).crawl_delay_ms == 40
    assert noted(HostRecord(), told(crawl_delay_ms=10**9)).crawl_delay_ms == 5_000
    assert noted(HostRecord(crawl_delay_ms=40), told()).crawl_delay_ms == 40


def test_host_that_does_not_exist_is_bad_for_a_while() -> None:
    record = noted(HostRecord(backoff=2), told(0, Ending.FAILED, is_host_bad=True))
    assert record == HostRecord(backoff=2)
    policy.note_bad(record, PAUSES, NOW)
    assert record == HostRecord(backoff=2, bad_until_ms=NOW + 700)


def test_a_request_of_a_bad_host_is_held_under_the_name_of_that_host() -> None:
    plain = PackedRequest(1, "http://a.example/x", "a.example")
    assert policy.under_its_name(plain) is plain
    by_domain = PackedRequest(1, "http://a.example/x", "example", priority=7)
    assert policy.under_its_name(by_domain) == PackedRequest(
        1, "http://a.example/x", "a.example", priority=7
    )
    no_url = PackedRequest(1, "data:,", "x")
    assert policy.under_its_name(no_url) is no_url


# Counting


@pytest.mark.parametrize(
    ("ending", "counter"),
    [
        (Ending.DONE, "done"),
        (Ending.REPLACED, "replaced"),
        (Ending.FAILED, "failed"),
        (Ending.DROPPED, "refused"),
    ],
)
def test_each_ending_has_a_counter(ending: Ending, counter: str) -> None:
    stats = Stats()
    policy.count_ending(stats, ending)
    assert stats == Stats(**{counter: 1})


def test_request_is_found_under_its_fingerprint_and_that_of_its_url() -> None:
    assert policy.names(PackedRequest(1, "http://a/", "a")) == [1]
    assert policy.names(PackedRequest(1, "http://a/", "a", url_fingerprint=2)) == [1, 2]


def test_host_state_tells_the_budget() -> None:
    record = HostRecord(
        queued_nav=1, queued_data=2, claimed=3, next_at_ms=4, backoff=5, bad_until_ms=6
    )
    assert policy.host_state(record, "a", POLITE) == HostState("a", 3, 3, 4, 500, 5, 6)

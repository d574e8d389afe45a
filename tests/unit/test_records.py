import pytest

from weft.records import PackedRequest, Stats


@pytest.mark.parametrize(("url_fingerprint", "known_as"), [(0, {1}), (2, {1, 2}), (1, {1})])
def test_request_is_known_by_its_fingerprints(url_fingerprint: int, known_as: set[int]) -> None:
    request = PackedRequest(1, "http://a/", "a", url_fingerprint=url_fingerprint)
    # 0 stands for no fingerprint: an injected request was found on page 0.
    assert {number for number in range(4) if request.is_known_as(number)} == known_as


def test_what_waits_for_bad_hosts_is_not_pending() -> None:
    stats = Stats(queued_nav=1, queued_data=5, held=4, claimed=2)
    assert stats.queued == 6
    assert stats.pending == 4

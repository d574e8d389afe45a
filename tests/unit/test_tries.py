"""How often an address may show a token that does not exist."""

from weft.control.tries import MAX_ADDRESSES, FailedTries


class Watch:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def make_tries(watch: Watch) -> FailedTries:
    return FailedTries(tries=3, window_s=60, now_s=watch)


def test_after_some_tries_an_address_has_to_wait() -> None:
    watch = Watch()
    tries = make_tries(watch)
    for _ in range(3):
        assert tries.wait_s("10.0.0.1") == 0
        tries.note("10.0.0.1")
        watch.now_s += 1
    assert tries.wait_s("10.0.0.1") == 57
    assert tries.wait_s("10.0.0.2") == 0
    watch.now_s += 57
    assert tries.wait_s("10.0.0.1") == 0
    tries.note("10.0.0.1")
    assert tries.wait_s("10.0.0.1") == 0


def test_addresses_that_one_client_has_count_together() -> None:
    tries = make_tries(Watch())
    for last in range(3):
        tries.note(f"2001:db8::{last}")
    assert tries.wait_s("2001:db8::ffff") > 0
    assert tries.wait_s("2001:db8:0:1::1") == 0
    assert tries.wait_s("fe80::1%eth0") == 0
    assert tries.wait_s("") == 0


def test_not_any_number_of_addresses_is_remembered() -> None:
    watch = Watch()
    tries = make_tries(watch)
    for _ in range(3):
        tries.note("first")
    for number in range(MAX_ADDRESSES):
        tries.note(str(number))
    assert tries.wait_s("first") == 0
    assert len(tries._found) == MAX_ADDRESSES

import asyncio
from collections.abc import Callable

import pytest

from weft.engine import gate
from weft.engine.gate import Gate

#: What the calls themselves may take.
SLACK_S = 0.04


def in_loop(test: Callable[[Gate], None]) -> None:
    async def main() -> None:
        test(Gate())

    asyncio.run(main())


def test_the_first_request_of_a_host_does_not_wait() -> None:
    def test(gate: Gate) -> None:
        assert gate.wait_s("a", 10) == 0
        assert gate.wait_s("b", 10) == 0

    in_loop(test)


def test_the_next_waits_for_its_turn() -> None:
    def test(gate: Gate) -> None:
        waits = [gate.wait_s("a", 10) for _ in range(4)]
        assert waits == pytest.approx([0, 10, 20, 30], abs=SLACK_S)

    in_loop(test)


def test_the_delay_counts_from_the_request_before() -> None:
    def test(gate: Gate) -> None:
        gate.wait_s("a", 0)
        assert gate.wait_s("a", 10) == pytest.approx(10, abs=SLACK_S)
        assert gate.wait_s("a", 0) == pytest.approx(10, abs=SLACK_S)

    in_loop(test)


def test_a_request_that_was_held_up_moves_the_next() -> None:
    def test(gate: Gate) -> None:
        gate.note_sent("a", ago_s=4)
        assert gate.wait_s("a", 10) == pytest.approx(6, abs=SLACK_S)

    in_loop(test)


def test_an_older_request_does_not_bring_the_next_forward() -> None:
    def test(gate: Gate) -> None:
        gate.wait_s("a", 10)
        gate.note_sent("a", ago_s=4)
        assert gate.wait_s("a", 10) == pytest.approx(10, abs=SLACK_S)

    in_loop(test)


def test_those_who_wait_as_told_are_a_delay_apart() -> None:
    async def main() -> list[float]:
        gate = Gate()
        loop = asyncio.get_running_loop()

        async def send() -> float:
            await asyncio.sleep(gate.wait_s("a", 0.02))
            return loop.time()

        return sorted(await asyncio.gather(*(send() for _ in range(4))))

    times = asyncio.run(main())
    # All are counted from when the first was sent; a late timer is no fault of the gate.
    assert all(at_s - times[0] > 0.02 * i - 0.01 for i, at_s in enumerate(times))


def test_the_host_that_was_fetched_longest_ago_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate, "MAX_HOSTS", 2)

    def test(gate: Gate) -> None:
        for host in ("a", "b", "a", "c"):  # b goes
            gate.wait_s(host, 10)
        assert gate.wait_s("a", 10) == pytest.approx(20, abs=SLACK_S)
        assert gate.wait_s("b", 10) == 0

    in_loop(test)

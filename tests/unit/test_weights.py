"""Weights follow the speeds of the workers, coarsely and rarely."""

import random
from collections import Counter
from statistics import median

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from weft.cluster.weights import (
    LEAST,
    LEAST_PAGES,
    LEAST_SHARE,
    MOST,
    SMOOTHING,
    STEP,
    Speed,
    next_weight,
    smoothed,
)

#: Workers beside whom one with speed 100 is as fast as most.
OTHERS = (100.0,) * 5

ratios = st.floats(LEAST, MOST)


def settled(ratio: float) -> float:
    """The weight that a worker gets that was weighed quite differently before."""
    start = MOST if ratio < MOST / 2 else LEAST
    return next_weight(start, 100 * ratio, OTHERS)


# From speeds to weights


def test_a_weight_is_the_speed_beside_that_of_most() -> None:
    assert next_weight(1.0, 200, OTHERS) == 2.0
    assert next_weight(1.0, 50, OTHERS) == 0.5
    # Most, not the mean: one that is very fast makes nobody slow.
    assert next_weight(1.0, 100, [100, 100, 10_000]) == 1.0
    assert next_weight(1.0, 10_000, [100, 100, 100]) == MOST


def test_of_two_the_faster_gets_more() -> None:
    assert next_weight(1.0, 300, [100]) == 1.5
    assert next_weight(1.0, 100, [300]) == 0.5


@given(weight=ratios, speed=st.floats(0.001, 1e6), others=st.lists(st.floats(0, 1e6)))
def test_weights_are_coarse_and_have_bounds(
    weight: float, speed: float, others: list[float]
) -> None:
    new = next_weight(weight, speed, others)
    assert new == weight or (new / STEP).is_integer()
    assert LEAST <= new <= MOST


@pytest.mark.parametrize("others", [[], [0.0], [0.0, 0.0]])
def test_a_weight_stays_as_long_as_there_is_nobody_to_compare_with(others: list[float]) -> None:
    assert next_weight(2.0, 100, others) == 2.0


def test_a_weight_stays_as_long_as_ones_own_speed_is_not_known() -> None:
    assert next_weight(2.0, 0.0, OTHERS) == 2.0


def test_others_whose_speed_is_not_known_do_not_count() -> None:
    assert next_weight(1.0, 200, [100, 100, 0, 0, 0]) == next_weight(1.0, 200, [100, 100]) == 2.0


@given(ratio=ratios)
def test_a_new_weight_is_near_what_was_measured(ratio: float) -> None:
    assert abs(settled(ratio) - ratio) <= STEP / 2


@given(ratio=ratios, wobbles=st.lists(st.floats(0.9, 1.1), max_size=20))
def test_a_speed_that_wobbles_by_a_tenth_never_changes_the_weight(
    ratio: float, wobbles: list[float]
) -> None:
    weight = settled(ratio)
    for wobble in wobbles:
        assert next_weight(weight, 100 * ratio * wobble, OTHERS) == weight


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0, 4.0])
def test_a_worker_that_becomes_half_as_fast_or_twice_is_weighed_anew(weight: float) -> None:
    assert next_weight(weight, 200 * weight, OTHERS) == 2 * weight
    assert next_weight(weight, 50 * weight, OTHERS) == weight / 2


@given(ratio=ratios)
def test_a_weight_that_has_changed_does_not_change_again_by_itself(ratio: float) -> None:
    weight = settled(ratio)
    assert next_weight(weight, 100 * ratio, OTHERS) == weight


# Measuring


def test_the_first_measurement_counts_as_it_is_and_the_next_by_its_share() -> None:
    assert smoothed(0.0, 80.0) == 80.0
    assert smoothed(80.0, 100.0) == pytest.approx(80.0 + SMOOTHING * 20.0)


def test_speed_is_pages_for_a_second_of_cpu_time() -> None:
    speed = Speed()
    assert speed.value == 0.0
    speed.note(1_000, cpu_s=10.0, at_s=500.0)
    assert speed.value == 0.0
    speed.note(1_100, cpu_s=12.0, at_s=504.0)
    assert speed.value == 50.0
    speed.note(1_200, cpu_s=13.0, at_s=505.0)
    assert speed.value == pytest.approx(50.0 + SMOOTHING * 50.0)


def test_a_few_pages_are_collected_until_they_tell_something() -> None:
    speed = Speed()
    speed.note(0, cpu_s=0.0, at_s=0.0)
    for second in (1, 2, 3):
        speed.note(second * (LEAST_PAGES // 4), cpu_s=second, at_s=second)
        assert speed.value == 0.0
    speed.note(LEAST_PAGES, cpu_s=4.0, at_s=4.0)
    assert speed.value == LEAST_PAGES / 4


def test_an_idle_worker_is_not_measured() -> None:
    speed = Speed()
    speed.note(0, cpu_s=0.0, at_s=0.0)
    speed.note(100, cpu_s=2.0, at_s=4.0)
    assert speed.value == 50.0
    # It has little to do: what it needs for itself would make it look slow.
    speed.note(200, cpu_s=2.0 + LEAST_SHARE * 100 * 0.9, at_s=104.0)
    assert speed.value == 50.0
    # Nor does that time count when it is busy again.
    busy_s = 2.0 + LEAST_SHARE * 100 * 0.9
    speed.note(400, cpu_s=busy_s + 2.0, at_s=107.0)
    assert speed.value == pytest.approx(50.0 + SMOOTHING * 50.0)


def test_no_time_at_all_is_no_measurement() -> None:
    speed = Speed()
    speed.note(0, cpu_s=1.0, at_s=1.0)
    speed.note(100, cpu_s=1.0, at_s=1.0)
    assert speed.value == 0.0


def test_a_speed_follows_a_change_within_some_measurements() -> None:
    speed = Speed()
    for second in range(40):
        speed.note(second * 100, cpu_s=second, at_s=second)
    assert speed.value == pytest.approx(100.0)
    for second in range(40, 60):
        speed.note(4_000 + (second - 40) * 200, cpu_s=second, at_s=second)
    assert speed.value == pytest.approx(200.0, rel=0.05)


# A cluster

#: Measurements after which all speeds are known and smooth. Before, a weight follows the first of
#: them, each off by a tenth, while those of others are missing.
SETTLED = 15


@settings(max_examples=50, deadline=None)
@given(true_speeds=st.lists(st.floats(20, 400), min_size=2, max_size=8), seed=st.integers())
def test_the_weights_of_a_stable_cluster_converge_and_then_stay(
    true_speeds: list[float], seed: int
) -> None:
    """Every measurement is off by up to a tenth; workers weigh themselves one after the other."""
    rng = random.Random(seed)
    speeds = [0.0] * len(true_speeds)
    weights = [1.0] * len(true_speeds)
    changes: Counter[int] = Counter()
    for number in range(150):
        for me, true_speed in enumerate(true_speeds):
            speeds[me] = smoothed(speeds[me], true_speed * rng.uniform(0.9, 1.1))
            others = [speed for other, speed in enumerate(speeds) if other != me]
            weight = next_weight(weights[me], speeds[me], others)
            changes[me] += weight != weights[me] and number >= SETTLED
            weights[me] = weight
    # Those that take long are at the edge: they change once or twice more, then are far from it.
    assert max(changes.values()) <= 2
    for weight, true_speed in zip(weights, true_speeds, strict=True):
        ratio = min(MOST, max(LEAST, true_speed / median(true_speeds)))
        assert abs(weight - ratio) <= STEP / 2 + 0.25 * max(weight, ratio)
